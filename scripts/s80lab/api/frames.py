# SPDX-License-Identifier: GPL-2.0-or-later
"""Data frames with pandas, an optional dependency. UserError says how to install it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from s80lab.base.errors import UserError
from s80lab.results.query import HOW_TO_INSTALL

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """A data frame with one row per mapping; columns in the order of their first appearance."""
    return table(None, list(rows))


def table(columns: Sequence[str] | None, rows: Sequence[Any]) -> pandas.DataFrame:
    """A data frame of rows under the given columns."""
    try:
        import pandas
    except ImportError:
        raise UserError(f"data frames need pandas, which is not installed: {HOW_TO_INSTALL}") from None
    return pandas.DataFrame(rows, columns=None if columns is None else list(columns))
