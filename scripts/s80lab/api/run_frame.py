# SPDX-License-Identifier: GPL-2.0-or-later
"""Data frames of runs that warn if a mean pools runs of several designs. This module needs pandas."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import pandas

from s80lab.api.warning import MisleadingMeanWarning
from s80lab.results.identity import NOT_POOLED
from s80lab.results.metrics.standing import INVALID


class RunSeries(pandas.Series):
    """A column of a RunFrame. identity: the columns of the frame in which the runs of a mean must agree."""

    _metadata: ClassVar[list[str]] = ["_name", "identity"]
    identity: pandas.DataFrame | None = None

    @property
    def _constructor(self) -> Callable[..., RunSeries]:
        return RunSeries

    @property
    def _constructor_expanddim(self) -> Callable[..., RunFrame]:
        return RunFrame

    def mean(self, *arguments: Any, **options: Any) -> Any:
        if self.identity is not None:
            _warn(self.identity[self.identity.index.isin(self.index)])
        return super().mean(*arguments, **options)


class RunFrame(pandas.DataFrame):
    """A data frame whose `mean` and `groupby` warn (MisleadingMeanWarning) if a mean pools runs that differ in a column
    of NOT_POOLED, for example the design. It is a pandas.DataFrame in every other respect."""

    @property
    def _constructor(self) -> Callable[..., RunFrame]:
        return RunFrame

    @property
    def _constructor_sliced(self) -> Callable[..., RunSeries]:
        return RunSeries

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, RunSeries) and isinstance(key, Hashable):
            found.identity = _identity(self)
        return found

    def mean(self, *arguments: Any, **options: Any) -> Any:
        _warn(_identity(self))
        return super().mean(*arguments, **options)

    def groupby(self, *arguments: Any, **options: Any) -> Any:
        plain = pandas.DataFrame(self)
        counting = {key: value for key, value in options.items() if key != "as_index"}
        groups = plain.groupby(*arguments, **counting)
        pooled = [name for name in map(str, _identity(self)) if groups[name].nunique().max() > 1]
        _warn_pooled(pooled)
        return super().groupby(*arguments, **options)


def _identity(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The columns of NOT_POOLED that the frame has."""
    return pandas.DataFrame(frame)[[name for name in NOT_POOLED if name in frame.columns]]


def _warn(identity: pandas.DataFrame) -> None:
    """Warn if one mean is taken over rows with this identity."""
    _warn_pooled([name for name in identity if identity[name].nunique() > 1])
    if "status" in identity and len(identity) and (identity["status"] == INVALID).all():
        _warn_text("all runs of this mean are invalid: choose valid runs with Runs.results()")


def _warn_pooled(columns: list[Any]) -> None:
    if columns:
        listed = " and ".join(columns)
        _warn_text(f"a mean over these rows pools runs that differ in {listed}: group by {listed}, or choose one value")


def _warn_text(text: str) -> None:
    warnings.warn(text, MisleadingMeanWarning, stacklevel=5)
