# SPDX-License-Identifier: GPL-2.0-or-later
"""What the other studies state (results/paper/STUDY/claims.tsv), and how it is answered (answers.toml beside it; of a
study that is answered in parts, `STUDY/PART`, PART.toml).

load_statements(study) -> list[Statement]   in the study's order, of a part those of its places
load_answers(study) -> StudyAnswers         one answer for each quantity
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import PositiveFloat, model_validator

from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, load, shown
from s80lab.results.paper import PAPER


@dataclass(frozen=True)
class Statement:
    """One number or order. at: under which condition. low, high: as of the paper's claims."""

    id: str
    place: str
    quantity: str
    at: str
    low: float | None
    high: float | None
    unit: str
    words: str

    @property
    def stated(self) -> str:
        """The number as a reader wants it beside ours; the words where there is none."""
        if self.low is None and self.high is None:
            return self.words
        if self.low == self.high:
            return f"{self.low:g}"
        if self.low is None:
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


class StudyAnswer(Strict):
    """Of one quantity. metrics: those of ours whose sum answers it; times scale it is in the study's unit. point: at
    which point of the sweep, where the statement's condition does not say it; over: the point that it is divided by;
    more: the study says by how much the first exceeds the second, so 1 is taken off their ratio before it is scaled.
    low, high: what agrees, where the study puts its order into words. differs: why it is another number; tests:
    commands that repeat what that rests on. unjudged: why ours is shown and is neither. given: what it is here, where
    it is not measured but set. because: why nothing answers it."""

    metrics: tuple[str, ...] = ()
    scale: PositiveFloat = 1.0
    point: str = ""
    over: str = ""
    more: bool = False
    low: float | None = None
    high: float | None = None
    differs: str = ""
    tests: tuple[str, ...] = ()
    unjudged: str = ""
    given: str = ""
    because: str = ""

    @model_validator(mode="after")
    def _one_of_three(self) -> StudyAnswer:
        if [bool(self.metrics), bool(self.given), bool(self.because)].count(True) != 1:
            raise ValueError("one of metrics, given and because says how it is answered")
        if self.more and not self.over:
            raise ValueError("more = true needs `over`, the point that is exceeded")
        return self


class StudyAnswers(Strict):
    """places: where in the study that stands which is answered; everywhere where none is named. differs: why a number
    is another where its answer does not say, with tests as there. conditions: what a statement's `at` is in our runs,
    a point of the sweep (`clients=15`). remarks: what must be known to read the table. answers: by quantity, or by
    `quantity @ condition` where a condition has one of its own."""

    title: str
    experiment: str
    places: tuple[str, ...] = ()
    differs: str
    tests: tuple[str, ...] = ()
    conditions: Mapping[str, str] = {}
    remarks: tuple[str, ...] = ()
    answers: Mapping[str, StudyAnswer]

    def of(self, statement: Statement) -> StudyAnswer:
        return self.answers.get(f"{statement.quantity} @ {statement.at}") or self.answers[statement.quantity]

    def point(self, statement: Statement) -> str:
        """The point of the sweep that answers it; empty: that of an experiment without one."""
        return self.of(statement).point or self.conditions.get(statement.at, "")


def load_statements(study: str) -> list[Statement]:
    places = load(_answers_file(study), StudyAnswers).places
    told = _stated(study)
    unknown = sorted(set(places) - {one.place for one in told})
    if unknown:
        raise UserError(f"{shown(_answers_file(study))}: claims.tsv has no place {', '.join(unknown)}")
    return [one for one in told if not places or one.place in places]


def _answers_file(study: str) -> Path:
    name, _, part = study.partition("/")
    return PAPER / name / f"{part or 'answers'}.toml"


def _stated(study: str) -> list[Statement]:
    """Wherever in the study."""
    with (PAPER / study.partition("/")[0] / "claims.tsv").open(newline="", encoding="utf-8") as file:
        return [
            Statement(
                row["id"],
                row["place"],
                row["quantity"],
                row["at"],
                float(row["low"]) if row["low"] else None,
                float(row["high"]) if row["high"] else None,
                row["unit"],
                row["words"],
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def load_answers(study: str) -> StudyAnswers:
    """UserError where a statement has no answer, or an answer no statement."""
    file = _answers_file(study)
    found = load(file, StudyAnswers)
    told = load_statements(study)
    names = [{one.quantity, f"{one.quantity} @ {one.at}"} for one in told]
    odd = found.answers.keys() - set().union(*names)
    lacking = {one.quantity for one, either in zip(told, names, strict=True) if not either & found.answers.keys()}
    if odd or lacking:
        which = ", ".join(sorted(odd | lacking))
        raise UserError(f"{shown(file)}: {which}: each quantity of claims.tsv has one answer, and no other has")
    return found
