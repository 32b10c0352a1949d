# SPDX-License-Identifier: GPL-2.0-or-later
"""What is reproduced of the paper (configs/reproduce.toml): figures, and what each is made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, hint, load

FILE = paths.ROOT / "configs" / "reproduce.toml"


class Ratio(Strict):
    """A metric at one value of a sweep's axis over that at another, for every combination of the other axes; says: what
    the paper has beside it. low, high: what that is read as; without them there is nothing to judge."""

    metric: str
    axis: str
    over: str
    at: str
    says: str
    low: float | None = None
    high: float | None = None


class FigureOf(Strict):
    """One figure of the paper. pictures: of a report over the experiments' runs; profile: the functions of their first
    seed; claims: identifiers in results/paper/claims.tsv; ratios: of a sweep. coherence: one table over their
    workloads and servers. run: what they lack is run; else what there is of them is shown, on any server. study:
    another study than the paper, in results/paper, whose own tables are set beside the runs."""

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
    study: str = ""

    @property
    def whose(self) -> str:
        """Who states what is said."""
        return "The study" if self.study else "The paper"


class Reproduction(Strict):
    figures: Annotated[list[FigureOf], Field(min_length=1)]


def load_figures(names: Sequence[str], file: Path = FILE) -> list[FigureOf]:
    """The named figures in the order of the file, all of them where none is named; `paper` and `studies` stand for
    those of the paper and of the other studies, a study's name (`throughput`) for all that are answered of it."""
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
