# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the plugin's sums of misses (docs/reference/interfaces/miss-sums.md).

The columns are those of a log; `count` says how many requests a record stands for, and `stall` is the cycles of all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import FailFast, Field

from s80lab.analysis.misses.log import LARGEST_ADDRESS, Log, Who
from s80lab.analysis.misses.record_file import LARGEST_PID, Description, RecordFile
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict

RECORD = np.dtype(
    [
        *((name, "<u8") for name in ("physical", "address", "pc")),
        ("who", "<u4"),
        *((name, "u1") for name in ("core", "processor", "kind", "request", "source", "supplier", "reason", "sharing")),
        *((name, "u1") for name in ("context", "size", "range", "zero")),
        *((name, "<u8") for name in ("count", "stall", "first_ns", "last_ns", "own_reads")),
        *((name, "<u2") for name in ("reads", "writes", "foreign", "zero_too")),
    ]
)
MAGIC = b"S80SUMS1"
SEVERAL = "(several tasks)"
"""Name of the task of requests whose task was given up."""
_NO_PHYSICAL, _NO_WHO = np.uint64((1 << 64) - 1), np.uint32((1 << 32) - 1)
# Bits of an address that a record may leave open: none, a page, a large page, all.
_PAGE, _LARGE_PAGE, _EVERYTHING = 12, 21, 64


@dataclass(frozen=True)
class Sums(Log):
    """Requests of one or several regions; a record stands for `count` requests.

    complete: the last region has ended. If False, the region ended when QEMU did, at the snapshot `exit`. regions: the
    number of regions. limit: the largest number of records that was allowed.
    """

    complete: bool = True
    regions: int = 1
    limit: int = 0

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """Mask of the records with a line and an address."""
        return np.asarray(self.records["range"] == 0)

    @cached_property
    def lines(self) -> Self:
        """The records with a line and an address."""
        return dataclasses.replace(self, records=self.records[self.exact])

    @property
    def total(self) -> int:
        """Requests of all records."""
        return int(self.records["count"].sum())

    @cached_property
    def tgid(self) -> NDArray[np.int64]:
        """The process of each record."""
        return np.asarray(np.array([who.tgid for who in self.whos], dtype=np.int64)[self.records["who"]])

    @cached_property
    def own_reads(self) -> NDArray[np.integer[Any]]:
        return np.asarray(self.records["own_reads"])

    def requests(self, mask: NDArray[np.bool_]) -> NDArray[np.integer[Any] | np.bool_]:
        return np.asarray(np.where(mask, self.records["count"], np.uint64(0)))


class _Requests(Strict):
    """Requests with a line, of a page, of a larger range."""

    line: int = Field(ge=0)
    page: int = Field(ge=0)
    range: int = Field(ge=0)


class _Description(Description):
    """whos: (pid, process name, system call, tgid) of each task."""

    complete: bool
    regions: int = Field(ge=0)
    limit: int = Field(ge=1)
    requests: _Requests
    whos: Annotated[
        list[
            tuple[
                Annotated[int, Field(ge=0, le=LARGEST_PID)],
                str,
                Annotated[int, Field(ge=-1, le=LARGEST_PID)],
                Annotated[int, Field(ge=0, le=LARGEST_PID)],
            ]
        ],
        FailFast(),
    ]


_FILE = RecordFile(MAGIC, RECORD, _Description, "file of sums of misses", "execute the program again")


def read_sums(path: Path, system_calls: Sequence[str] = (), requests: int | None = None) -> Sums:
    """Reads a file of sums. UserError if the file is incomplete, or if a value is not one that the plugin writes.

    system_calls: names of the system calls by number. requests: the misses and upgrades that the regions must have;
    None if their number is not known.
    """
    found, described = _FILE.read(path)
    several = found["who"] == _NO_WHO
    whos = [Who(*who) for who in described.whos] or [Who(0, "unknown", -1)]
    if several.any():
        found["who"][several] = len(whos)
        whos.append(Who(0, SEVERAL, -1))
    exact = found["range"] == 0
    line = (found["physical"] % np.uint64(described.line_bytes) == 0) & (found["physical"] < LARGEST_ADDRESS)
    _FILE.check(
        path,
        found,
        described,
        {"who": len(whos), "zero_too": 1},
        {
            "physical": np.where(exact, line, found["physical"] == _NO_PHYSICAL),
            "range": np.isin(found["range"], (0, _PAGE, _LARGE_PAGE, _EVERYTHING)),
            "count": found["count"] > 0,
            "own_reads": found["own_reads"] <= found["count"],
            "last_ns": found["last_ns"] >= found["first_ns"],
        },
    )
    sums = Sums(
        found,
        described.labels,
        whos,
        described.line_bytes,
        described.cores,
        system_calls,
        described.complete,
        described.regions,
        described.limit,
    )
    page = found["range"] == _PAGE
    counts = [int(found["count"][mask].sum()) for mask in (exact, page, ~exact & ~page)]
    declared = described.requests
    if counts != [declared.line, declared.page, declared.range]:
        raise UserError(f"{path}: the records and the description differ in the number of requests; {_FILE.again}")
    if requests is not None and sums.total != requests:
        raise UserError(
            f"{path}: has {sums.total} requests, but the run counted {requests} misses and upgrades; {_FILE.again}"
        )
    return sums
