# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots and seeds of a group's runs as text, and what its means and intervals are over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from s80lab.analysis.groups import Group, Run
from s80lab.analysis.interval import observations, unit_of


def has_boots(group: Group) -> bool:
    """Whether the runs of the group, valid and invalid, come from several boots."""
    return unit_of((*group.runs, *group.excluded)) == "boot"


def seeds_text(group: Group, runs: Sequence[Run]) -> str:
    """The seeds of some runs of the group, for example `1, 2, 3`; if the group has several boots, by boot, for example
    `boots 1, 2: seeds 1, 2; boot 3: seed 1`."""
    if not has_boots(group):
        return _listed(run.seed for run in runs)
    names = _boot_names(group)
    by_seeds: dict[tuple[int, ...], list[str]] = {}
    for key, of_boot in observations(runs).items():
        by_seeds.setdefault(tuple(run.seed for run in of_boot), []).append(names[key])
    return "; ".join(
        f"{_noun('boot', boots)} {_listed(boots)}: {_noun('seed', numbers)} {_listed(numbers)}"
        for numbers, boots in by_seeds.items()
    )


def named_runs_text(group: Group, runs: Sequence[Run]) -> str:
    """The same with the noun in front: `seeds 1, 2`, `boot 3: seed 1`."""
    return ("" if has_boots(group) else f"{_noun('seed', runs)} ") + seeds_text(group, runs)


def units_text(groups: Sequence[Group]) -> str:
    """What the means and intervals of the groups are over: `the seeds` or `the boots`."""
    several = [group for group in groups if group.unit == "boot"]
    if not several:
        return "the seeds"
    return "the boots" if len(several) == len(groups) else "the boots (of groups with one boot: the seeds)"


def averaged_text(groups: Sequence[Group]) -> str:
    """A sentence, with a space in front, if a value of a sample is the mean over several runs; else empty."""
    averaged = any(len(group.observations) < len(group.runs) for group in groups if group.unit == "boot")
    return " The value of a boot is the mean over its seeds." if averaged else ""


def _boot_names(group: Group) -> dict[str, str]:
    """The number of each boot. Boots of equal numbers, for example of two builds of the image, also have the beginning
    of the hash of their ready checkpoint."""
    numbers = {key: str(runs[0].boot) for key, runs in observations((*group.runs, *group.excluded)).items()}
    count = Counter(numbers.values())
    return {key: number if count[number] == 1 else f"{number} ({key[:6]})" for key, number in numbers.items()}


def _noun(word: str, things: Sequence[object]) -> str:
    return word if len(things) == 1 else f"{word}s"


def _listed(things: Iterable[object]) -> str:
    return ", ".join(map(str, things))
