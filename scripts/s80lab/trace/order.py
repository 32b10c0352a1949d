# SPDX-License-Identifier: GPL-2.0-or-later
"""Order files: the accesses of all processors in the order in which they are played, 16 bytes each.

The form in which accesses travel between the C++ side (`s80-order`), the exchange formats and gem5.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from s80lab.base.errors import UserError
from s80lab.trace import files

DTYPE = np.dtype(
    [("tick", "<u8"), ("line", "<u4"), ("processor", "u1"), ("op", "u1"), ("context", "u1"), ("zero", "u1")]
)
"""tick: picoseconds of the modelled clock; line: address / line size; op: Op;
context: class x ENTRIES + entry (docs/reference/interfaces/snapshots.md); entry 0 is user code."""
ENTRIES = 9

LAST_LINE = 0xFFFF_FFFE
"""The highest line that the model can name."""
MAX_PROCESSORS = 32

Order = npt.NDArray[Any]
"""An array of DTYPE."""


class Op(IntEnum):
    """What an access is; a page walk is a load of the page-table walker."""

    IFETCH = 0
    LOAD = 1
    STORE = 2
    WALK = 3


NAMES = {Op.IFETCH: "ifetch", Op.LOAD: "load", Op.STORE: "store", Op.WALK: "walk"}


def make(
    processor: npt.ArrayLike,
    op: npt.ArrayLike,
    line: npt.ArrayLike,
    tick: npt.ArrayLike = 0,
    context: npt.ArrayLike = 0,
) -> Order:
    """An order of these columns."""
    order = np.zeros(len(np.atleast_1d(np.asarray(line))), DTYPE)
    order["processor"], order["op"], order["line"] = processor, op, line
    order["tick"], order["context"] = tick, context
    return order


def write(path: Path, order: Order) -> None:
    """Writes the file, whole or not at all."""
    files.write(path, np.ascontiguousarray(order.astype(DTYPE, copy=False)).tobytes())


def read(path: Path) -> Order:
    """Reads and checks an order file; UserError where it is truncated or no order file."""
    try:
        size = path.stat().st_size
        if size % DTYPE.itemsize:
            raise UserError(f"{path}: {size} bytes are no whole number of 16-byte records: truncated, or no order file")
        order: Order = np.fromfile(path, DTYPE)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    check(order, str(path))
    return order


def check(order: Order, where: str, processors: int = MAX_PROCESSORS) -> None:
    """UserError for the first record that names no op, a processor that is not there, or an impossible line."""
    for bad, what in (
        (order["op"] > max(Op), "names the unknown op {op}"),
        (order["zero"] != 0, "does not end in a zero byte: no order file"),
        (
            order["processor"] >= processors,
            f"is of processor {{processor}}, but there are {processors} (0 to {processors - 1})",
        ),
        (order["line"] > LAST_LINE, "is of line {line:#x}, beyond what the model can address"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            record = {name: int(order[name][at]) for name in ("op", "processor", "line")}
            raise UserError(f"{where}: access {at} {what.format(**record)}")


def processors(order: Order) -> int:
    """As many processors as the order needs."""
    return int(order["processor"].max()) + 1 if len(order) else 1
