# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the paper's statements (results/paper) and the metrics that answer them.

Source: P. Koka and M. H. Lipasti, "Characterization of an IMAP Server on a Shared-Memory Multiprocessor": the numbers
in its text and in its Tables 1 and 2.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.paths import ROOT

PAPER = ROOT / "results" / "paper"
ALL_WORKLOADS = "all"
STAND_INS = {"pop3": "specmail", "web": "specweb_ssl", "jbb": "specjbb"}
"""Our workloads that replace licensed workloads of the paper."""


@dataclass(frozen=True)
class Claim:
    """One statement of the paper. low, high: bounds of its number in `unit`; both None for an order ("a exceeds b"),
    whose short form is `words`. metric: our metric that answers it; empty if no single metric does."""

    id: str
    workloads: tuple[str, ...]
    section: str
    quantity: str
    low: float | None
    high: float | None
    unit: str
    words: str
    metric: str

    def about(self, mix: str) -> bool:
        """Whether the claim is about the mix, or about the workload that the mix replaces."""
        return bool({mix, STAND_INS.get(mix, mix), ALL_WORKLOADS} & {*self.workloads})

    @property
    def stated(self) -> str:
        """The number as text, "75 to 85%" or "at most 2%"; empty for an order."""
        unit = "%" if self.unit == "percent" else ""
        if self.low is None:
            return "" if self.high is None else f"at most {self.high:g}{unit}"
        if self.high is None or self.high == self.low:
            return f"{self.low:g}{unit}"
        return f"{self.low:g} to {self.high:g}{unit}"


@cache
def claims() -> tuple[Claim, ...]:
    """All claims, ordered by number."""
    return tuple(
        Claim(**{**row, **bounds(row), "workloads": tuple(row["workloads"].split(","))})
        for row in read_rows(PAPER / "claims.tsv")
    )


def bounds(row: Mapping[str, str]) -> dict[str, Any]:
    """The bounds of the number in a row of a table of statements."""
    return {key: float(row[key]) if row[key] else None for key in ("low", "high")}


def claim_on(metric: str, mix: str) -> Claim | None:
    """The claim that this metric answers for this mix; None if the paper makes no such claim."""
    return next((claim for claim in claims() if claim.metric == metric and claim.about(mix)), None)


@cache
def table_1() -> dict[str, dict[str, float]]:
    """The paper's Table 1: mix to transaction type to share (0 to 1)."""
    rows = read_rows(PAPER / "transactions.tsv")
    return {mix: {row["type"]: float(row[mix]) / 100 for row in rows} for mix in ("imapb", "imape")}


@cache
def table_2() -> dict[str, dict[str, dict[str, float]]]:
    """The paper's Table 2: mix to last type to next type to probability, rows normalised."""
    weights: dict[str, dict[str, dict[str, float]]] = {}
    for row in read_rows(PAPER / "transitions.tsv"):
        weights.setdefault(row["mix"], {}).setdefault(row["from"], {})[row["to"]] = float(row["weight"])
    return {
        mix: {last: {to: w / sum(row.values()) for to, w in row.items()} for last, row in matrix.items()}
        for mix, matrix in weights.items()
    }


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table in a .tsv file, by the names of its columns. UserError if the file cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter="\t"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error}); restore the file from the repository") from None
