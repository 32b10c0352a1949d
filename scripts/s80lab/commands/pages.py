# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the pages of the reference results into build/reference (`s80lab reference show`), and with them every
generated page of docs and results/reference (`make pages`). No guest runs.

The pages of the protocols are in git as one pack, because their proofs and their diagrams need rumur and graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.strict import short_path
from s80lab.base.terminal import plain
from s80lab.capture.error import LLC_TABLE, TABLE
from s80lab.commands import claims, metrics
from s80lab.commands.line.traces import DocsArguments
from s80lab.config.experiment import load_experiment
from s80lab.config.grid import Grid
from s80lab.config.machine import KEYS, TABLES, allowed_values
from s80lab.config.reproduce import load_figures
from s80lab.protocol import docs as protocols
from s80lab.report.figures.all import FIGURES
from s80lab.report.filter_error import write_markdown as write_filter_error
from s80lab.report.gem5_comparison import write_markdown as write_comparison
from s80lab.report.reproduce import show_figure, write_page
from s80lab.report.tables import table_from
from s80lab.report.write import write_experiment_report
from s80lab.results.reference import pages_folder, result_names, run_folders, unpacked, unpacked_pack, write_pack
from s80lab.results.run_folder import REPORT, RunFolder

UW, GEM5, PAPER = "uw", "gem5", "paper"
"""The results that have more than runs, or none: see results/README.md."""
PROTOCOLS = paths.HOME / "docs" / "reference" / "protocols.tar.xz"
"""The pages of the shipped protocols, with their state diagrams."""
KEYS_PAGE = paths.HOME / "docs" / "reference" / "machine-keys.md"
_KEYS_HEAD = """\
# Keys of a machine file
This page lists the keys of the modelled machine, for people who write a file in `configs/machines`. A file needs only
the keys without a default. If the column *default* contains "absent", a machine may lack the table or the key. The
command `s80lab machine show NAME` prints all values of a machine, and
[Add a machine](../guides/extending.md#add-a-machine) explains how to make one. The table `[guest]` and the keys `name`,
`description`, `protocol` and `[provenance]` are explained in the file that `s80lab machine new` writes.

The parts of the model declare the keys in C++; `python -m s80lab.commands.pages` writes this page.

| key | values | default | unit | meaning |
| --- | --- | --- | --- | --- |
"""
FRONT = paths.HOME / "docs" / "miss_source.svg"
"""The figure of the README, a copy of the figure in the report over `small`."""


def write_pages(name: str) -> Iterator[Path]:
    """Write the pages of a reference result, with their figures, into the lab's folder build/reference/NAME; yield the
    path of each.

    UserError if the result does not exist, or if the lab cannot be written.
    """
    folder = unpacked(name)
    if folder != pages_folder(name):
        raise UserError(
            f"{short_path(pages_folder(name))}: cannot be written; set S80LAB_HOME to a folder of your own, then "
            "repeat the command"
        )
    if runs := ordered_runs(name):
        yield write_experiment_report(name, runs, folder)
    if name == UW:
        yield write_uw_page(folder)
    for content in sorted(folder.glob("*/compare.json")):
        yield write_comparison(content.parent)
    yield from sorted(folder.glob(f"*/{REPORT}"))


def write_uw_page(folder: Path) -> Path:
    """Write the page of `s80lab reproduce uw`; return its path. Its profiles are kept as tables, because a profile is
    only readable with the image that was booted."""
    (figure,) = load_figures([UW])
    measured = show_figure(figure, {UW: ordered_runs(UW)})
    content = json.loads((unpacked(UW) / "profiles.json").read_text(encoding="utf-8"))
    with TemporaryDirectory() as place:
        tables = [*measured.tables, *map(table_from, content)]
        page = write_page([replace(measured, tables=tables)], Path(place))
        write_file(folder / "reproduce.html", page.read_bytes())
    return folder / "reproduce.html"


def ordered_runs(name: str) -> list[Path]:
    """The runs of a reference result, ordered by experiment, point of its sweep, boot and seed."""
    return sorted(run_folders(name), key=_place)


def _place(folder: Path) -> tuple[str, int, int, int, str]:
    manifest = RunFolder(folder).manifest
    points = Grid.of_sweep(load_experiment(manifest["experiment"], {}).sweep).points()
    point = manifest.get("varied", {})
    # A point that has since left the sweep goes to the end.
    place = points.index(point) if point in points else len(points)
    return manifest["experiment"], place, manifest.get("boot", 1), manifest["seed"], folder.name


def write_tracked() -> Iterator[Path]:
    """Write the generated pages that are in git; yield the path of each. The pages of the results exist already."""
    write_file(FRONT, (pages_folder("small") / FIGURES / FRONT.name).read_bytes())
    yield FRONT
    for table in (TABLE, LLC_TABLE):
        write_filter_error(table)
        yield table.with_suffix(".md")
    for page in sorted(pages_folder(GEM5).glob("*/compare.md")):
        target = paths.own(paths.REFERENCE) / GEM5 / f"{page.parent.name}.md"
        write_file(target, page.read_bytes())
        yield target
    yield claims.write_page()
    yield metrics.write_page()
    write_file(KEYS_PAGE, machine_keys_page())
    yield KEYS_PAGE
    yield from write_protocols()


def machine_keys_page() -> str:
    """The content of the page of machine keys."""
    rows = []
    for name, table in TABLES.items():
        if name:
            needed = any("default" not in key and not key.get("optional") for key in table["keys"])
            default = " absent " if table["optional"] and needed else " "
            rows.append(f"| `[{name}]` | |{default}| | {table['text']} |")
        for word in table["keys"]:
            key = f"{name}.{word['name']}".removeprefix(".")
            default = KEYS[key].get("default", "absent" if word.get("optional") else "")
            rows.append(f"| `{key}` | {allowed_values(key)} | {default} | {word['unit']} | {word['text']} |")
    return _KEYS_HEAD + "\n".join(rows) + "\n"


def protocol_docs(args: DocsArguments) -> None:
    """Write the pages and state diagrams of all protocols into build/protocols, and pack them."""
    for file in write_protocols():
        print(plain(short_path(file)))


def write_protocols() -> Iterator[Path]:
    """Prove each known protocol; write its page into build/protocols, and the pack and the record of proofs that are in
    git; yield the path of each."""
    PROTOCOLS.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        names = [page.name for page in protocols.write_pages(Path(place))]
        write_pack(Path(place), PROTOCOLS)
    yield from (protocol_pages() / name for name in names)
    yield PROTOCOLS
    yield protocols.write_record()


def protocol_pages() -> Path:
    """The folder with the pages of the shipped protocols and their state diagrams."""
    return unpacked_pack(PROTOCOLS, paths.BUILD / "protocols")


if __name__ == "__main__":
    for name in result_names():
        for page in write_pages(name):
            print(plain(f"page: {short_path(page)}"), flush=True)
    for page in write_tracked():
        print(plain(f"page: {short_path(page)}"), flush=True)
