# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables for notebooks: HTML, and data frames with pandas, an optional dependency.

Without pandas, a UserError states how to install it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from s80lab.base.errors import UserError
from s80lab.results.query import HOW_TO_INSTALL

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """A data frame with one row per mapping; the columns are in the order in which the keys first appear."""
    return table(None, list(rows))


def table(columns: Sequence[str] | None, rows: Sequence[Any]) -> pandas.DataFrame:
    """A data frame with the given columns and rows. Its means warn if they pool several designs (run_frame.py)."""
    try:
        import pandas
    except ImportError:
        raise UserError(f"data frames need the package pandas, which is not installed: {HOW_TO_INSTALL}") from None
    from s80lab.api.run_frame import RunFrame

    return RunFrame(pandas.DataFrame(rows, columns=None if columns is None else list(columns)))


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with one line of headings. Cells are text, never markup."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
