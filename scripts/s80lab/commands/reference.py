# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab reference`: write the pages of reference results, and keep valid runs as a reference result."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from s80lab.analysis.groups import Run, read_runs
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import scratch
from s80lab.base.strict import short_path
from s80lab.base.suggest import hint
from s80lab.base.terminal import plain
from s80lab.commands import claims
from s80lab.commands.line.maintain import ReferenceKeepArguments, ReferenceShowArguments
from s80lab.commands.measured import latest_runs
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.pages import PAPER, write_pages
from s80lab.results.reference import SUFFIX, find_pack, result_names, unpack, write_pack
from s80lab.results.run_folder import MANIFEST, STATS, TRANSACTIONS, RunFolder

# Of a run's folder: what the tables and pictures are made from.
KEPT = (MANIFEST, STATS, TRANSACTIONS)


def show_command(args: ReferenceShowArguments) -> None:
    """Write the pages of reference results, and print their paths.

    names: names of results; RESULT/PAGE shows only the page in the folder PAGE of the result.
    """
    for name in args.names:
        result, _, part = name.partition("/")
        pages = [page for page in write_pages(result) if part in ("", page.parent.name)]
        if not pages:
            there = [f"{result}/{page.parent.name}" for page in write_pages(result) if page.parent.name != result]
            raise UserError(f"the reference result `{result}` has no page `{name}`: {hint(name, there or [result])}")
        for page in pages:
            print(plain(f"page: {short_path(page)}"))


def keep_command(args: ReferenceKeepArguments) -> None:
    """Replace the runs of a reference result by the latest run of each seed, and regenerate docs/background/claims.md.

    All runs must be valid.
    """
    pack, others = keep_reference(args.name, latest_runs(args.experiments, args.scale, parse_seeds(args.seeds)))
    print(plain(f"reference: {pack}"))
    if others:
        print(
            f"kept: {', '.join(others)}: this command does not write these files; check that they fit the new runs, "
            "then run `make pages`"
        )
    show_command(ReferenceShowArguments([args.name]))
    print(plain(f"page: {claims.write_page()}"))


def keep_page(page: Path, name: str, runs: Sequence[Run]) -> Path:
    """Keep a page over these runs, with its pictures, as the folder `name` of the reference result `paper`; return the
    path of the pack.

    UserError names the first invalid run.
    """
    _require_results(runs)
    with _changed(PAPER) as folder:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(page.parent, folder / name)
    return _pack(PAPER)


def keep_reference(name: str, folders: list[Path]) -> tuple[Path, list[str]]:
    """Keep the runs as the reference result `name`. Return the path of its pack, and the names of its other files: they
    are kept, because no command can make them from the runs alone.

    UserError names the first invalid run; then an existing result is kept.
    """
    if Path(name).name != name or name.startswith("."):
        raise UserError(f"{name} cannot name a reference result: write a plain name, for example small")
    _require_results(read_runs(folders))
    with _changed(name) as target:
        shutil.rmtree(target / "runs", ignore_errors=True)
        for folder in folders:
            kept = target / "runs" / folder.name
            kept.mkdir(parents=True)
            for file in KEPT:
                shutil.copyfile(folder / file, kept / file)
            _list_kept(RunFolder(kept))
        others = sorted(path.name for path in target.glob("[!.]*") if path.name != "runs")
    return _pack(name), others


@contextmanager
def _changed(name: str) -> Iterator[Path]:
    """A folder with a copy of the files of a reference result. At the end of the block, the folder becomes the result's
    pack."""
    with scratch() as place:
        folder = place / name
        folder.mkdir()
        if name in result_names():
            unpack(find_pack(name), folder)
        yield folder
        write_pack(folder, _pack(name))


def _pack(name: str) -> Path:
    return paths.own(paths.REFERENCE) / f"{name}{SUFFIX}"


def _list_kept(run: RunFolder) -> None:
    """Leave only the files that were copied in the manifest's list of products, against which readers check the run."""
    listed = run.manifest.get("files", {})
    run.write_manifest(run.manifest | {"files": {name: listed[name] for name in listed if name in KEPT}})


def _require_results(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.reasons:
            raise UserError(
                f"run {run.manifest['run']} is invalid ({'; '.join(run.reasons)}), so it cannot be a reference result"
            )
