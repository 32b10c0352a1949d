# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays the traces of the check on a binary, and asks for the verdict before a command uses the binary."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.staging import staging
from s80lab.base.terminal import say
from s80lab.gem5.agree import categories, replay
from s80lab.gem5.agree.categories import CATEGORIES, model_counts, ruby_counts
from s80lab.gem5.binary import require
from s80lab.gem5.check import traces
from s80lab.gem5.check.traces import Simulation, simulations
from s80lab.gem5.check.verdict import FILE, Difference, Verdict, folder, stored
from s80lab.trace import tool

SECONDS = 20
"""About how long a check takes."""


def require_certified(gem5: Path, *, x86: bool, tell: Callable[[str], None] = say) -> Verdict:
    """The verdict on a gem5 that can be used: its build options fit, and its MOESI_hammer is certified. The first time
    the check runs. UserError: the gem5 cannot be used. x86: the gem5 must be able to boot a guest."""
    verdict = stored(file_hash(gem5))
    if verdict is None:
        tell(f"s80lab: checking the MOESI_hammer of {gem5} (once per binary, about {SECONDS} s)")
        verdict = check(gem5, x86=x86)
        tell(f"s80lab: {gem5}: {sentence(verdict)}")
    verdict.about.require(gem5, x86=x86)
    if not verdict.certified:
        raise UserError(
            f"{gem5} is refused, because its MOESI_hammer differs from that of gem5 24.0.0.1: {verdict.reason()}; "
            "`s80lab gem5 check` shows every difference"
        )
    return verdict


def sentence(verdict: Verdict) -> str:
    """The verdict in one clause."""
    if verdict.failure:
        return f"MOESI_hammer is refused: {verdict.failure}"
    played = f"{verdict.accesses:,} accesses in {verdict.traces} traces"
    if verdict.differences:
        differ = f"{len(verdict.differing)} of {verdict.categories} categories differ from the model"
        return f"MOESI_hammer is refused: {differ}; {played}"
    return f"MOESI_hammer is certified: equal to the model in all {verdict.categories} categories; {played}"


def check(gem5: Path, *, again: bool = False, x86: bool = False) -> Verdict:
    """The stored verdict on the binary, or a new one. again: ignore a stored verdict. UserError: the binary does not
    answer, or has no MOESI_hammer, or has no X86 although `x86` asks for it."""
    binary = file_hash(gem5)
    found = None if again else stored(binary)
    if found is not None:
        return found
    began = time.monotonic()
    about = require(gem5, x86=x86)
    played = simulations()
    final = folder(binary)
    with staging(final) as partial:
        with ThreadPoolExecutor(len(played)) as pool:
            results = list(pool.map(lambda one: _play(one, gem5, partial), played))
        verdict = Verdict(
            binary=binary,
            about=about,
            traces=sum(one.traces for one in played),
            accesses=sum(len(one.order) for one in played),
            categories=len(CATEGORIES),
            differences=[difference for result in results for difference in result.differences],
            failure="; ".join(result.failure for result in results if result.failure).replace(str(partial), str(final)),
            reached=traces.reached_transitions(result.rows for result in results),
            seconds=round(time.monotonic() - began, 1),
        )
        (partial / FILE).write_text(verdict.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return verdict


@dataclass(frozen=True)
class Result:
    """The result of one simulation. rows: transition counts."""

    rows: dict[str, int]
    differences: list[Difference]
    failure: str = ""


def compare(one: Simulation, rows: dict[str, int], model: dict[str, int], where: str) -> Result:
    """Compare transition counts of a simulation with the model's counts by category. UserError: the rows do not add up
    to the accesses, or an access met an unknown state."""
    ruby = ruby_counts(rows, len(one.order), where)
    differences = [
        Difference(trace=one.name, category=category.name, ruby=ruby[category.name], model=model[category.name])
        for category in CATEGORIES
        if ruby[category.name] != model[category.name]
    ]
    return Result(rows, differences)


def expected(one: Simulation) -> dict[str, int]:
    """The model's counts by category."""
    return model_counts(tool.counts(one.order, one.setup()), len(one.order))


def _play(one: Simulation, gem5: Path, folder: Path) -> Result:
    machine = one.setup().machine
    place = folder / one.name.replace(" ", "-")
    place.mkdir()
    model = expected(one)  # an error of the model is not a verdict on gem5
    try:
        replayed = replay.replay(replay.spaced(one.order, machine), machine, gem5, place)
        where = str(place / "gem5" / "stats.txt")
        return compare(one, categories.parse_transitions(replayed.stats, where, replayed.facts["rows"]), model, where)
    except UserError as error:
        return Result({}, [], f"{one.name}: {error}")
