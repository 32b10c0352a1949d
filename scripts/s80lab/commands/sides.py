# SPDX-License-Identifier: GPL-2.0-or-later
"""The sides of a comparison as the user names them: runs, an experiment with options, or designs of captures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint, names
from s80lab.base.terminal import counted
from s80lab.commands.changes import SINGLE, UNCHANGED, Changes
from s80lab.commands.measured import live_runs, only_run, runs_named
from s80lab.experiment.plan import Options, designs, read_experiment
from s80lab.results.run_folder import MANIFEST, RunFolder

# Inputs in which runs of one side agree. Boots differ in `guest_options` and `ready`, seeds in the rest.
_SAME = ("kernel", "initramfs", "qemu", "plugin", "machine", "protocol")
DEFAULT_BOOTS = (1, 2, 3)
"""Boots that --run measures without --boots."""


@dataclass(frozen=True)
class Named:
    """A side as the user named it: an experiment, a capture or runs, and changes of its design."""

    name: str
    changes: Changes = UNCHANGED

    @property
    def label(self) -> str:
        return shlex.join([self.name, *self.changes.words()])


def parse_side(text: str) -> Named:
    """Read a side such as `imapb --protocol mesi --set l2.size=2MiB`. UserError names the first mistake."""
    try:
        name, *words = shlex.split(text)
    except ValueError as error:
        what = "is empty" if not text.strip() else f"cannot be read ({error})"
        raise UserError(f"the side `{text}` {what}; write an experiment or a run, for example imapb") from None
    if name.startswith("-"):
        raise UserError(
            f"the side `{text}` begins with an option; begin with an experiment or a run, for example imapb"
        )
    changes = Changes()
    while words:
        option, equals, value = words.pop(0).partition("=")
        key = option.removeprefix("--")
        if not option.startswith("--") or key not in (*SINGLE, "set"):
            allowed = [f"--{one}" for one in (*SINGLE, "set")]
            raise UserError(f"the side `{text}` has no option `{option}`: {hint(option, allowed)}")
        if not equals:
            if not words:
                raise UserError(f"the side `{text}`: the option {option} needs a value")
            value = words.pop(0)
        changes = changes.then(Changes(settings=(value,)) if key == "set" else _single(key, value))
    return Named(name, changes)


def _single(key: str, value: str) -> Changes:
    return Changes(**{key: value})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Selection:
    """Which runs of a design count. Empty sequences and None select all seeds, all boots and the experiment's scale."""

    scale: str | None = None
    seeds: Sequence[int] = ()
    boots: Sequence[int] = ()


@dataclass(frozen=True)
class Found:
    """The valid runs of a side. remarks: sentences on runs that were left out."""

    folders: list[Path]
    remarks: tuple[str, ...] = ()


def is_experiment(side: Named) -> bool:
    """Whether the side names an experiment, not runs. An experiment's name takes precedence."""
    return side.name in names(paths.EXPERIMENTS) or not _run_folders(side.name)


def require_known(side: Named) -> None:
    """UserError if the name is neither that of an experiment nor that of a run."""
    known = names(paths.EXPERIMENTS)
    if side.name not in known and not _run_folders(side.name):
        raise UserError(
            f"found no experiment and no run `{side.name}` (`s80lab list` shows the runs): {hint(side.name, known)}"
        )


def named_runs(side: Named) -> Found:
    """The folders of runs that the side names, separated by commas. UserError if no such run exists."""
    folders = _run_folders(side.name)
    if side.changes:
        raise UserError(
            f"`{side.label}`: {side.name} is a run, and a run cannot be changed; name its experiment instead"
        )
    return Found(folders)


def _run_folders(name: str) -> list[Path]:
    """The folders of the runs that the name lists with commas; empty if one does not exist."""
    found = [_run_folder(part) for part in name.split(",")]
    return [folder for folder in found if folder is not None] if None not in found else []


def _run_folder(name: str) -> Path | None:
    """The folder of a run: a folder, a run's name, or the beginning of one run's name. UserError for several runs."""
    found = [Path(name)] if name and (Path(name) / MANIFEST).is_file() else runs_named(name)
    return only_run(name, [folder for folder in found if (folder / MANIFEST).is_file()])


def options_of(side: Named, selection: Selection, misses: bool = False) -> Options:
    """The options with which an experiment makes the runs of the side."""
    return side.changes.options(selection.scale, selection.seeds, selection.boots, misses)


def existing_runs(side: Named, selection: Selection) -> Found:
    """The valid live runs of an experiment's design: the latest of each boot and seed.

    Runs of another build of plugin, QEMU or image than the latest run are left out. UserError if no run is valid.
    """
    options = options_of(side, selection)
    experiment = read_experiment(side.name, options)
    points = designs(side.name, options)
    if len(points) > 1:
        raise UserError(
            f"experiment {side.name} sweeps {', '.join(points[0].point)}, so it has {len(points)} designs; name an "
            "experiment without [sweep]"
        )
    (design,) = points
    wanted = {key: getattr(experiment, key) for key in ("scale", "server", "image")}
    live = (RunFolder(folder) for _, folder in live_runs([side.name]))
    found = [run for run in live if design.has(run.manifest) and _fits(run.manifest, wanted, selection)]
    build = _latest_build(found)
    latest = {(run.manifest["inputs"].get("ready", ""), run.manifest["seed"]): run for run in build}
    valid = [run for run in latest.values() if not run.reasons]
    if not valid:
        raise UserError(_nothing(side, selection, list(latest.values())))
    remarks = []
    if len(build) < len(found):
        older = counted(len(found) - len(build), "run")
        remarks.append(f"{side.label}: {older} of other builds of the plugin, QEMU or the image left out.")
    if len(valid) < len(latest):
        remarks.append(f"{side.label}: {counted(len(latest) - len(valid), 'invalid run')} left out.")
    return Found([run.path for run in valid], tuple(remarks))


def _fits(manifest: Mapping[str, object], wanted: Mapping[str, object], selection: Selection) -> bool:
    chosen = not selection.seeds or manifest["seed"] in selection.seeds
    chosen = chosen and (not selection.boots or manifest.get("boot", 1) in selection.boots)
    return chosen and all(manifest.get(key) == value for key, value in wanted.items())


def _latest_build(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """The runs of the same plugin, QEMU and image as the latest run. runs: oldest first."""
    built = [[run.manifest["inputs"].get(name) for name in _SAME] for run in runs]
    return [run for run, build in zip(runs, built, strict=True) if build == built[-1]]


def _nothing(side: Named, selection: Selection, invalid: Sequence[RunFolder]) -> str:
    command = " ".join(["s80lab run", side.label, *([f"--scale {selection.scale}"] if selection.scale else [])])
    boots = ",".join(map(str, selection.boots or DEFAULT_BOOTS))
    seeds = ",".join(map(str, selection.seeds or (1,)))
    remedy = f"add --run, or first make runs with `{command} --boots {boots} --seeds {seeds}`"
    if invalid:
        last = invalid[-1]
        why = f"{last.path.name}: {'; '.join(last.reasons)}"
        return f"no run of `{side.label}` is valid ({why}): measure longer, or {remedy}"
    return f"there is no run of `{side.label}` in {paths.runs()}: {remedy}"
