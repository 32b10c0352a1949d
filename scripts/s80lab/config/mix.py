# SPDX-License-Identifier: GPL-2.0-or-later
"""Base classes of workload profiles: every workload, and workloads that draw from a mix of transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from s80lab.base.numbers import MEASURED, NonNegative
from s80lab.base.strict import Strict

Weights = Annotated[dict[str, NonNegative], Field(min_length=1)]
# What the load generator accepts (workloads/loadgen/job.cpp).
LEAST_TIMEOUT_S = 0.001


class Metric(Strict):
    """Descriptions of what a run of this workload reports: throughput, latency and phases."""

    throughput: str
    latency: str
    phases: str


class Workload(Strict):
    """A workload: what the clients do.

    reply_timeout_s: a reply that takes longer, in simulated seconds, ends the run.
    """

    SUBSTITUTED: ClassVar[str] = ""
    """Reason for which the load generator replaces one transaction by another."""

    protocol: str
    mix: str
    description: str
    metric: Metric
    reply_timeout_s: float = Field(60.0, ge=LEAST_TIMEOUT_S, le=MEASURED)

    @property
    def what(self) -> Mapping[str, str]:
        """The transactions and what they do, in the order of their markers."""
        raise NotImplementedError

    @property
    def speaks(self) -> tuple[str, ...]:
        """The protocols that the server must serve."""
        return (self.protocol,)

    @property
    def transactions(self) -> tuple[str, ...]:
        """The names of the transactions, in the order of their markers."""
        return tuple(self.what)

    def load_lines(self, clients: int, seed: int, think_ms: float | None, think: str | None) -> list[str]:
        """The lines of the job that describe the load. think_ms, think: None for the profile's values."""
        raise NotImplementedError

    def login_lines(self, clients: int) -> list[str]:
        """The lines for a job that only logs the clients in."""
        raise NotImplementedError


class Mix(Workload):
    """A workload that draws from a mix of a protocol's transactions.

    driver: `independent` draws each transaction by mix_percent; `chain` draws it by the transaction before.
    think_ms: mean think time in milliseconds of simulated time.
    mix_percent: percent of each transaction (the paper's Table 1).
    transitions: percent of each transaction after each transaction (Table 2), for `chain`. Rows are normalised.
    """

    WHAT: ClassVar[Mapping[str, str]] = {}
    """The protocol's transactions and what they do, in the order of their markers."""

    driver: Literal["chain", "independent"] = "chain"
    think_ms: NonNegative
    think: Literal["exponential", "constant"] = "exponential"
    mix_percent: Weights
    transitions: dict[str, list[NonNegative]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        names = list(self.WHAT)
        for table in ("mix_percent", "transitions"):
            if sorted(getattr(self, table)) != sorted(names) and (table == "mix_percent" or self.transitions):
                raise ValueError(f"`{table}` must have exactly the keys {', '.join(names)}")
        if self.driver == "chain" and not self.transitions:
            raise ValueError('driver = "chain" needs the table `transitions`: add it, or write driver = "independent"')
        for name, row in {**self.transitions, "mix_percent": list(self.mix_percent.values())}.items():
            if len(row) != len(names) or sum(row) <= 0:
                raise ValueError(f"`{name}` must have {len(names)} numbers that are not all 0")
        return self

    @property
    def what(self) -> Mapping[str, str]:
        return self.WHAT

    def table1(self) -> list[float]:
        """Percent of each transaction, in the order of their markers."""
        return [self.mix_percent[name] for name in self.transactions]

    def own_lines(self) -> list[str]:
        """The lines of the job that only this protocol has."""
        return []

    def load_lines(self, clients: int, seed: int, think_ms: float | None, think: str | None) -> list[str]:
        return [
            f"think_ms={number(self.think_ms if think_ms is None else think_ms)}",
            f"think={think or self.think}",
            f"seed={seed}",
            f"driver={self.driver}",
            f"transactions={' '.join(self.transactions)}",
            f"mix_percent={row(self.table1())}",
            *(f"transition.{name}={row(self.transitions[name])}" for name in self.transactions if self.transitions),
            *self.own_lines(),
        ]

    def login_lines(self, clients: int) -> list[str]:
        return ["driver=independent", f"mix_percent={' '.join('1' for _ in self.transactions)}"]


def number(value: float) -> str:
    """A number as text, for the job."""
    return f"{value:.10g}"


def row(values: list[float]) -> str:
    return " ".join(map(number, values))
