# SPDX-License-Identifier: GPL-2.0-or-later
"""Workload profiles (workloads/profiles): the mix of transactions, and the job file made from it.

Job format: docs/interfaces.md, section 3. Mixes: Koka and Lipasti, Tables 1 and 2, in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from s80lab.base import paths
from s80lab.base.strict import Strict, find, load

TRANSACTIONS = ("CRTE", "DELT", "RENM", "SRCH", "SELT", "COPY", "MOVE", "VIEW", "SEND", "MDEL")

Weights = Annotated[dict[str, NonNegativeFloat], Field(min_length=1)]


class Metric(Strict):
    """What a run of this workload reports, and how to read it."""

    throughput: str
    latency: str
    phases: str


class Thresholds(Strict):
    """Bounds that a transaction must not cross: per user for mailboxes, per mailbox for messages."""

    mailboxes_min: PositiveInt
    mailboxes_max: PositiveInt
    messages_min: NonNegativeInt
    messages_max: PositiveInt

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.mailboxes_min > self.mailboxes_max:
            raise ValueError(f"mailboxes_min = {self.mailboxes_min} is above mailboxes_max = {self.mailboxes_max}")
        if self.messages_min > self.messages_max:
            raise ValueError(f"messages_min = {self.messages_min} is above messages_max = {self.messages_max}")
        return self


class Workload(Strict):
    """A mix of mail transactions and the pace of its clients.

    think_ms: mean think time, milliseconds of modelled time. incoming_per_s: messages a second from the external mail
    server, all users together. reply_timeout_s: a reply that takes longer ends the run.
    mix_percent: Table 1. transitions: Table 2, a row for each transaction (normalised where used).
    """

    mix: str
    description: str
    metric: Metric
    driver: Literal["chain", "independent"] = "chain"
    think_ms: NonNegativeFloat
    think: Literal["exponential", "constant"] = "exponential"
    incoming_per_s: NonNegativeFloat
    move: Literal["auto", "move", "copy"] = "auto"
    reply_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    thresholds: Thresholds
    mix_percent: Weights
    transitions: dict[str, list[NonNegativeFloat]]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for table in ("mix_percent", "transitions"):
            rows = getattr(self, table)
            if sorted(rows) != sorted(TRANSACTIONS):
                raise ValueError(f"`{table}` must have exactly the keys {', '.join(TRANSACTIONS)}")
        for name, row in {**self.transitions, "mix_percent": list(self.mix_percent.values())}.items():
            if len(row) != len(TRANSACTIONS) or sum(row) <= 0:
                raise ValueError(f"`{name}` must be {len(TRANSACTIONS)} numbers that are not all 0")
        return self

    def table1(self) -> list[float]:
        """Percent by type, in the order of TRANSACTIONS."""
        return [self.mix_percent[name] for name in TRANSACTIONS]


def load_workload(name_or_path: str | Path) -> Workload:
    """The named profile, or the file at a path that ends in .toml; UserError names file, key and what is allowed."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = find("workload", paths.PROFILES, str(name_or_path))
    return load(path, Workload)


def expected_mix(workload: Workload) -> dict[str, float]:
    """The share of each type (they sum to 1) that a long run draws: of Table 1, or the chain's stationary one."""
    if workload.driver == "independent":
        share = np.array(workload.table1())
    else:
        rows = np.array([workload.transitions[name] for name in TRANSACTIONS])
        chain = rows / rows.sum(axis=1, keepdims=True)
        # share = share * chain and sum(share) = 1, solved as least squares
        size = len(TRANSACTIONS)
        equations = np.vstack([chain.T - np.eye(size), np.ones(size)])
        share = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    share = np.clip(share, 0.0, None)
    return {name: float(value) for name, value in zip(TRANSACTIONS, share / share.sum(), strict=True)}


def login_job_text(clients: int, users: int) -> str:
    """The job of a ready guest: it logs the clients in, of whatever mix they will be, and waits."""
    weights = " ".join("1" for _ in TRANSACTIONS)
    return f"hold=1\nclients={clients}\nusers={users}\ndriver=independent\nmix_percent={weights}\n"


def job_text(
    workload: Workload | str,
    *,
    clients: int,
    users: int,
    seed: int,
    think_ms: float | None = None,
    think: str | None = None,
    warmup_s: float | None = None,
    measure_s: float | None = None,
    pace: Mapping[str, float] | None = None,
) -> str:
    """The job file for the load generator; None leaves think times to the profile, phases to the clock page and the
    guest's time to its kernel."""
    load = workload if isinstance(workload, Workload) else load_workload(workload)
    lines = [
        f"mix={load.mix}",
        f"clients={clients}",
        f"users={users}",
        f"think_ms={_number(load.think_ms if think_ms is None else think_ms)}",
        f"think={think or load.think}",
        f"seed={seed}",
        f"driver={load.driver}",
        f"transactions={' '.join(TRANSACTIONS)}",
        f"mix_percent={_row(load.table1())}",
        *(f"transition.{name}={_row(load.transitions[name])}" for name in TRANSACTIONS),
        *(f"{key}={value}" for key, value in load.thresholds),
        f"incoming_per_s={_number(load.incoming_per_s)}",
        f"move={load.move}",
        f"reply_timeout_s={_number(load.reply_timeout_s)}",
    ]
    lines += [f"{key}={_number(value)}" for key, value in (pace or {}).items()]
    phases = {"warmup_s": warmup_s, "measure_s": measure_s}
    lines += [f"{key}={_number(value)}" for key, value in phases.items() if value is not None]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.10g}"


def _row(values: list[float]) -> str:
    return " ".join(map(_number, values))
