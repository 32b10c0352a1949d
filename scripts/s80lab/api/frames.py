# SPDX-License-Identifier: GPL-2.0-or-later
"""Data frames: pandas, which is an extra of the package, or one sentence where it is not installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from s80lab.base.errors import UserError
from s80lab.results.query import HOW_TO_INSTALL

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """One row a mapping; columns in the order in which they first appear."""
    return table(None, list(rows))


def table(columns: Sequence[str] | None, rows: Sequence[Any]) -> pandas.DataFrame:
    """Rows under these columns."""
    try:
        import pandas
    except ImportError:
        raise UserError(f"data frames need pandas, which is not installed: {HOW_TO_INSTALL}") from None
    return pandas.DataFrame(rows, columns=None if columns is None else list(columns))
