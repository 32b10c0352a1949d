# SPDX-License-Identifier: GPL-2.0-or-later
"""Totally ordered traces (`.order`): the accesses of all processors in one global order, 16 bytes each.

The C++ programs (`s80-order`), the exchange formats and the comparison with gem5 exchange accesses in this form.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from s80lab.base.errors import UserError
from s80lab.base.vocabulary import LABELS
from s80lab.trace import files

DTYPE = np.dtype(
    [("tick", "<u8"), ("line", "<u4"), ("processor", "u1"), ("op", "u1"), ("context", "u1"), ("zero", "u1")]
)
"""tick: simulated time in picoseconds; line: address / line size; op: Op;
context: process class x ENTRIES + kernel entry cause (docs/reference/interfaces/snapshots.md); cause 0 is user code."""
ENTRIES = len(LABELS["entry"])

LAST_LINE = 0xFFFF_FFFE
"""The highest line number that the model supports."""
MAX_PROCESSORS = 256

Order = npt.NDArray[Any]
"""A numpy array of DTYPE, one record per access."""


class Op(IntEnum):
    """The kind of an access. A page walk is a load by the page-table walker."""

    IFETCH = 0
    LOAD = 1
    STORE = 2
    WALK = 3


NAMES = dict(zip(Op, LABELS["kind"], strict=True))


def make(
    processor: npt.ArrayLike,
    op: npt.ArrayLike,
    line: npt.ArrayLike,
    tick: npt.ArrayLike = 0,
    context: npt.ArrayLike = 0,
) -> Order:
    """Builds an order from columns."""
    order = np.zeros(len(np.atleast_1d(np.asarray(line))), DTYPE)
    order["processor"], order["op"], order["line"] = processor, op, line
    order["tick"], order["context"] = tick, context
    return order


def write(path: Path, order: Order) -> None:
    """Writes a totally ordered trace, completely or not at all."""
    files.write(path, np.ascontiguousarray(order.astype(DTYPE, copy=False)).tobytes())


def read(path: Path) -> Order:
    """Reads and checks a totally ordered trace. UserError if the file is truncated or malformed."""
    plain = path.is_file() and path.suffix not in (".gz", ".xz")
    try:
        # A plain file may be larger than files.LARGEST.
        content = np.fromfile(path, np.uint8) if plain else np.frombuffer(files.read(path), np.uint8)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) % DTYPE.itemsize:
        raise UserError(
            f"{path}: the size of {len(content)} bytes is not a multiple of 16-byte records, so the file is "
            "truncated or not a totally ordered trace (.order)"
        )
    order: Order = content.view(DTYPE)
    check(order, str(path))
    return order


def check(order: Order, where: str, processors: int = MAX_PROCESSORS) -> None:
    """UserError for the first record with an unknown operation, processor or line."""
    for bad, what in (
        (order["op"] > max(Op), "has the unknown operation {op}"),
        (order["zero"] != 0, "does not end in a zero byte, so the file is not a totally ordered trace (.order)"),
        (
            order["processor"] >= processors,
            f"names processor {{processor}}, but there are {processors} processors (0 to {processors - 1})",
        ),
        (order["line"] > LAST_LINE, f"names line {{line:#x}}, beyond the limit of the model ({LAST_LINE:#x})"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            record = {name: int(order[name][at]) for name in ("op", "processor", "line")}
            raise UserError(f"{where}: access {at} {what.format(**record)}")


def processors(order: Order) -> int:
    """The number of processors that the order needs."""
    return int(order["processor"].max()) + 1 if len(order) else 1
