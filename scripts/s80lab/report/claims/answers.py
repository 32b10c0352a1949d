# SPDX-License-Identifier: GPL-2.0-or-later
"""How the paper's claims are answered here: results/paper/answers.toml, strictly read."""

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
    """What the runs must have been; think_ms may be "same": of all the mixes compared."""

    clients: int | None = None
    think_ms: float | Literal["same"] | None = None


class Answer(Strict):
    """One claim's; the file's head says what each key means."""

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
    """By the claim's id, one for each claim. Raises UserError where one is missing or unknown."""
    found = {name: validate(content, Answer, f"{shown(FILE)}: {name}") for name, content in read_toml(FILE).items()}
    wanted = {claim.id for claim in paper.claims()}
    if odd := sorted(wanted ^ found.keys()):
        raise UserError(f"{shown(FILE)}: {', '.join(odd)}: each claim of claims.tsv has one answer, and no other has")
    return found
