# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads results/paper/answers.toml, which states how each claim of the paper is compared with measurements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, read_toml, shown, validate
from s80lab.results import paper

FILE = paper.PAPER / "answers.toml"

Rule = Literal["band", "higher", "alike", "extremes", "lowest", "none"]


class Needs(Strict):
    """Conditions on the runs. think_ms = "same": all compared mixes have one think time."""

    clients: int | None = None
    think_ms: float | Literal["same"] | None = None


class Answer(Strict):
    """The answer to one claim. The comment at the top of answers.toml explains each key."""

    rule: Rule
    population: str = ""
    low: float | None = None
    high: float | None = None
    elsewhere: float | None = None
    read_as: str = ""
    needs: Needs = Needs()
    shown: bool = False
    beside: Mapping[str, str] = {}
    alike: tuple[str, ...] = ()
    above: str = ""
    below: str = ""
    differs: str = ""
    because: str = ""
    tests: tuple[str, ...] = ()
    slip: str = ""


@cache
def answers() -> Mapping[str, Answer]:
    """One answer per claim, by the claim's id. Raises UserError if an answer is missing or belongs to no claim."""
    found = {name: validate(content, Answer, f"{shown(FILE)}: {name}") for name, content in read_toml(FILE).items()}
    wanted = {claim.id for claim in paper.claims()}
    if odd := sorted(wanted ^ found.keys()):
        raise UserError(
            f"{shown(FILE)}: {', '.join(odd)}: every claim of claims.tsv needs exactly one answer, and only these "
            "claims"
        )
    return found
