# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of configs/reproduce.toml: the figures that s80lab reproduces, and the experiments behind each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, load
from s80lab.base.suggest import hint

FILE = paths.ROOT / "configs" / "reproduce.toml"


class Ratio(Strict):
    """The ratio of a metric at two values of a sweep's axis, for every combination of the other axes.

    axis: the key of the axis.
    over, at: the ratio is the metric at the value `at`, divided by the metric at the value `over`.
    says: the statement of the study.
    low, high: the numeric reading of the statement; without both, the ratio is not judged.
    """

    metric: str
    axis: str
    over: str
    at: str
    says: str
    low: float | None = None
    high: float | None = None


class FigureOf(Strict):
    """One figure of the paper, or one table of another study.

    says: the statement of the paper or study.
    experiments: the experiments behind the figure.
    pictures: names of pictures of the report over the experiments' runs.
    profile: whether the profile of the first seed is shown.
    claims: identifiers in results/paper/claims.tsv.
    ratios: ratios of a sweep.
    coherence: whether one table compares all workloads and servers.
    run: whether missing runs are made; if not, all existing runs are shown, on any server.
    minutes: wall-clock time that the missing runs take at most, on 2 cores after `make run` (docs/guides/reproduce.md);
        0 if there are none.
    study: the name of a study in studies; empty for the paper. The study's tables are compared with the runs.
    """

    name: str
    title: str
    says: str
    experiments: Annotated[list[str], Field(min_length=1)]
    pictures: list[str] = Field(default_factory=list)
    profile: bool = False
    claims: list[str] = Field(default_factory=list)
    ratios: list[Ratio] = Field(default_factory=list)
    coherence: bool = False
    run: bool = True
    minutes: Annotated[int, Field(ge=0)] = 0
    study: str = ""

    @property
    def whose(self) -> str:
        """The source of the statement."""
        return "The study" if self.study else "The paper"


class Reproduction(Strict):
    """The content of configs/reproduce.toml."""

    figures: Annotated[list[FigureOf], Field(min_length=1)]


def load_figures(names: Sequence[str], file: Path = FILE) -> list[FigureOf]:
    """The named figures in the order of the file; all figures if none is named.

    A name can be a group: `paper`, `studies` (all other studies), or the name of a study with several figures, such as
    `throughput`. UserError for an unknown name.
    """
    figures = load(file, Reproduction).figures
    groups = {
        "paper": [figure.name for figure in figures if not figure.study],
        "studies": [figure.name for figure in figures if figure.study],
    }
    for study in {figure.study.partition("/")[0] for figure in figures if "/" in figure.study}:
        groups[study] = [figure.name for figure in figures if figure.study.startswith(f"{study}/")]
    known = [figure.name for figure in figures] + list(groups)
    for name in names:
        if name not in known:
            raise UserError(f"there is no figure `{name}` in configs/reproduce.toml: {hint(name, known)}")
    chosen = {member for name in names for member in groups.get(name, [name])}
    return [figure for figure in figures if not names or figure.name in chosen]
