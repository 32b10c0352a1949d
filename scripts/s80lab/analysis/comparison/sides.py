# SPDX-License-Identifier: GPL-2.0-or-later
"""The sides of a comparison: groups of valid runs of one design each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from s80lab.analysis.groups import Group, Run, read_run
from s80lab.base.errors import UserError
from s80lab.base.terminal import counted
from s80lab.config.differences import changes
from s80lab.results.run_folder import RunFolder

# Inputs of runs, with the words for them.
_GUEST = {
    "kernel": "kernel",
    "initramfs": "guest image",
    "qemu": "QEMU",
    "plugin": "plugin",
    "replay": "replay program",
}


def read_side(label: str, folders: Sequence[Path]) -> Group:
    """The runs in these folders as one side.

    UserError if a run is incomplete or invalid, if a run is named twice, or if the runs are of several designs.
    """
    runs = tuple(map(_read_valid, folders))
    names = [run.name for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{label}: the run {twice} is named twice; name each run once")
    side = Group(label, runs)
    for other in runs[1:]:
        if changed := changes(side.manifest, other.manifest):
            raise UserError(
                f"{label}: the runs {side.runs[0].name} and {other.name} differ ({changed[0]}); one side of a "
                "comparison has runs of one design"
            )
    return side


def _read_valid(folder: Path) -> Run:
    """Read a run's folder. UserError if the run is incomplete or invalid."""
    run = read_run(RunFolder(folder))
    if run.reasons:
        raise UserError(
            f"the run {run.name} is invalid ({'; '.join(run.reasons)}), and invalid runs are not compared; omit the "
            "run, or measure longer"
        )
    return run


def check_sides(first: Group, second: Group) -> None:
    """UserError if the sides have a run in common, or if one has replays and the other live runs."""
    common = {run.name for run in first.runs} & {run.name for run in second.runs}
    if common:
        raise UserError(
            f"{first.label} and {second.label} are the same design: both have {counted(len(common), 'run')} "
            f"({', '.join(sorted(common))}); name two designs"
        )
    if first.engine != second.engine:
        raise UserError(
            f"{first.label} has runs of the engine {first.engine} and {second.label} of {second.engine}, which count "
            "differently; compare runs of one engine"
        )


def other_programs(first: Group, second: Group) -> list[str]:
    """Programs and images in which the sides differ although the sides name the same ones."""
    named = first.manifest.get("image") != second.manifest.get("image")
    named = named or first.manifest.get("server") != second.manifest.get("server")
    keys = [key for key in _GUEST if not (named and key in ("kernel", "initramfs"))]
    return [_GUEST[key] for key in keys if _inputs(first.runs, key) != _inputs(second.runs, key)]


def _inputs(runs: Iterable[Run], key: str) -> set[str]:
    return {str(run.manifest["inputs"].get(key, "")) for run in runs}
