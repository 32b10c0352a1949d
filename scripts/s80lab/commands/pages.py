# SPDX-License-Identifier: GPL-2.0-or-later
"""Regenerates every generated page of results/reference and docs from the data in git, without a run (`make pages`).

Pages of results/reference whose runs are not in git stay as they are; results/README.md lists them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from s80lab.base.strict import shown
from s80lab.base.terminal import plain
from s80lab.capture.error import TABLE
from s80lab.commands import claims, metrics
from s80lab.commands.reference import REFERENCE, kept_runs
from s80lab.config.reproduce import load_figures
from s80lab.protocol import docs as protocols
from s80lab.report.filter_error import write_markdown as write_filter_error
from s80lab.report.gem5_comparison import write_markdown as write_comparison
from s80lab.report.reproduce import show_figure, write_page
from s80lab.report.tables import table_from
from s80lab.report.write import write_experiment_report
from s80lab.results.run_folder import REPORT

UW = REFERENCE / "uw"


def write_report(name: str, folder: Path) -> Path:
    """Write the report over the runs of the reference result `name`, with figures, into the folder; return its path."""
    return write_experiment_report(name, kept_runs(name), folder)


def write_uw_page(target: Path = UW / "reproduce.html") -> Path:
    """Write the page of `s80lab reproduce uw`; return its path. Its profiles are kept as tables, because a profile is
    only readable with the image that was booted."""
    (figure,) = load_figures(["uw"])
    measured = show_figure(figure, {"uw": kept_runs("uw")})
    profiles = [table_from(each) for each in json.loads((UW / "profiles.json").read_text(encoding="utf-8"))]
    with TemporaryDirectory() as folder:
        page = write_page([replace(measured, tables=[*measured.tables, *profiles])], Path(folder))
        shutil.copyfile(page, target)
    return target


def _reports() -> Iterator[Path]:
    for page in sorted(REFERENCE.glob(f"*/{REPORT}")):
        yield write_report(page.parent.name, page.parent)


def _tables() -> Iterator[Path]:
    write_filter_error(TABLE)
    yield TABLE.with_suffix(".md")
    for content in sorted(REFERENCE.glob("gem5/*/compare.json")):
        yield write_comparison(content.parent)


def _docs() -> Iterator[Path]:
    yield claims.write_page()
    yield metrics.write_page()
    yield from protocols.write_pages()
    yield protocols.write_record()


MAKERS: tuple[Callable[[], Iterable[Path]], ...] = (_reports, lambda: [write_uw_page()], _tables, _docs)

if __name__ == "__main__":
    for maker in MAKERS:
        for page in maker():
            print(plain(f"page: {shown(page)}"), flush=True)
