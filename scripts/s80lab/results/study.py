# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the statements of the other studies (studies/STUDY/claims.tsv) and how s80lab answers them, and computes the
latency model of the study of high-throughput servers (KFUPM, 2003).

The answers are in answers.toml in the same folder. A study that is answered in parts, `STUDY/PART`, has PART.toml.

The latency model is an upper bound of a server's throughput if only data movement takes time. A transfer of S bytes
takes

    T = n1 T(memory to cache) + n2 T(memory to memory) + n4 T(network)

with T(memory to cache) = S / (32 Bi), T(memory to memory) = 2 S / Bi, T(network) = S / Be. Bi is the bandwidth of the
memory bus, Be the bandwidth of the bus to the network adapter. The study's slides do not contain the equations of its
three applications; the counts in studies/throughput/latency.toml reproduce every number of its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, load, short_path
from s80lab.results import paper


@dataclass(frozen=True)
class Statement:
    """One number or order that the study states. at: its condition. low, high: bounds, as in the paper's claims."""

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
        """The number as text; the study's words if it states no number."""
        if self.low is None and self.high is None:
            return self.words
        if self.low == self.high:
            return f"{self.low:g}"
        if self.low is None:
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


class StudyAnswer(Strict):
    """The answer to one quantity. Exactly one of metrics, given and because is set.

    metrics: our metrics whose sum answers the quantity; the sum times scale is in the study's unit.
    point: the point of the sweep, if the statement's condition does not determine it.
    over: the point whose value divides the value at `point`. more: the study states by how much the first exceeds the
    second, so 1 is subtracted from the ratio before scaling.
    low, high: the range that agrees, if the study states an order in words.
    differs: why our number differs. tests: commands that reproduce the evidence for this explanation.
    unjudged: why our number is shown without a verdict.
    given: the value in our experiment, if the quantity is an input. because: why nothing answers the quantity.
    """

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
            raise ValueError("set exactly one of the keys metrics, given and because")
        if self.more and not self.over:
            raise ValueError(
                "more = true needs `over`, the point of the sweep whose value is the base of the comparison"
            )
        return self


class StudyAnswers(Strict):
    """The answers to a study. places: the places in the study whose statements are answered; empty: all places.
    differs, tests: explanation and evidence for numbers whose own answer has none. conditions: for each condition
    (`at`) of the statements, the point of our sweep (`clients=15`). remarks: notes below the table. answers: by
    quantity, or by `quantity @ condition` for a single condition."""

    title: str
    experiment: str
    places: tuple[str, ...] = ()
    differs: str
    tests: tuple[str, ...] = ()
    conditions: Mapping[str, str] = {}
    remarks: tuple[str, ...] = ()
    answers: Mapping[str, StudyAnswer]

    def answer_to(self, statement: Statement) -> StudyAnswer:
        return self.answers.get(f"{statement.quantity} @ {statement.at}") or self.answers[statement.quantity]

    def point(self, statement: Statement) -> str:
        """The point of the sweep that answers the statement; empty for an experiment without a sweep."""
        return self.answer_to(statement).point or self.conditions.get(statement.at, "")


def load_statements(study: str) -> list[Statement]:
    """The statements in the study's order; for a part, those of its places."""
    places = load(_answers_file(study), StudyAnswers).places
    statements = _stated(study)
    unknown = sorted(set(places) - {one.place for one in statements})
    if unknown:
        raise UserError(
            f"{short_path(_answers_file(study))}: the key `places` names {', '.join(unknown)}, which no statement "
            "in claims.tsv has in its column `place`"
        )
    return [one for one in statements if not places or one.place in places]


def _answers_file(study: str) -> Path:
    name, _, part = study.partition("/")
    return paths.STUDIES / name / f"{part or 'answers'}.toml"


def _stated(study: str) -> list[Statement]:
    """All statements of the study, at all places."""
    rows = paper.read_rows(paths.STUDIES / study.partition("/")[0] / "claims.tsv")
    return [Statement(**{**row, **paper.bounds(row)}) for row in rows]


def load_answers(study: str) -> StudyAnswers:
    """Reads the answers. UserError if a statement has no answer, or an answer has no statement."""
    file = _answers_file(study)
    found = load(file, StudyAnswers)
    statements = load_statements(study)
    names = [{one.quantity, f"{one.quantity} @ {one.at}"} for one in statements]
    odd = found.answers.keys() - set().union(*names)
    lacking = {one.quantity for one, either in zip(statements, names, strict=True) if not either & found.answers.keys()}
    if odd or lacking:
        which = ", ".join(sorted(odd | lacking))
        raise UserError(
            f"{short_path(file)}: the answers and claims.tsv do not match for {which}: write exactly one answer for "
            "each quantity in claims.tsv, and none for others"
        )
    return found


FILE = paths.STUDIES / "throughput" / "latency.toml"
BITS = 8


class Application(Strict):
    """How often an application moves each byte: from memory to cache, from memory to memory, over the network."""

    name: str
    to_cache: NonNegativeFloat = 0.0
    to_memory: NonNegativeFloat = 0.0
    network: PositiveFloat

    def microseconds(self, size: float, bi: float, be: float) -> float:
        """Time of a transfer of `size` bytes. bi, be: bandwidths in MB/s."""
        to_cache, to_memory, network = size / (32 * bi), 2 * size / bi, size / be
        return self.to_cache * to_cache + self.to_memory * to_memory + self.network * network

    def peak_mbit(self, bi: float, be: float) -> float:
        """Throughput in Mbit/s, which does not depend on the size."""
        return BITS / self.microseconds(1.0, bi, be)


class Platform(Strict):
    """A machine of the study. stated: the study's throughputs in Mbit/s, in the order of the applications."""

    name: str
    bi: PositiveFloat
    stated: list[PositiveInt] = Field(default_factory=list)


class LatencyStudy(Strict):
    """The study. be: bandwidth of the network bus in MB/s, equal for all machines."""

    be: PositiveFloat
    applications: Annotated[list[Application], Field(min_length=1)]
    platforms: Annotated[list[Platform], Field(min_length=1)]


def load_latency_study(file: Path = FILE) -> LatencyStudy:
    return load(file, LatencyStudy)
