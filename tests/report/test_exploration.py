# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of an exploration with many designs: what stands in it without a script, and the data for its script. The
Pareto front of literal points."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from s80lab.analysis.groups import Group, read_run
from s80lab.config.grid import Grid
from s80lab.report.exploration.page import MOST_ROWS, _shortened, explorer
from s80lab.report.exploration.table import pareto_front, scatter_of
from s80lab.report.page import Topic, csv_link, render
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.run_folder import RunFolder

SIZES = ("1MiB", "2MiB", "4MiB")
MISSES = (6.0, 4.0, 5.0, 4.0, 3.0, 4.0)  # of the grid's points: protocol first, then size
GRID = Grid.parse([f"l2.size={','.join(SIZES)}", "protocol=msi,</script>"])


def groups_of(run_dir: Path, reasons: tuple[str, ...] = ()) -> list[Group]:
    """A group per point of GRID, with the misses of MISSES; the first one with `reasons` for being invalid."""
    run = read_run(RunFolder(run_dir))
    found = []
    for number, (point, misses) in enumerate(zip(GRID.points(), MISSES, strict=True)):
        why = list(reasons) if number == 4 else []
        standing = {"verdict": "invalid" if why else "valid", "reasons": why}
        stats = {**run.stats, "metrics": {**run.metrics, "l2_mpki.all": misses}, "standing": standing}
        found.append(Group(GRID.label(point), (replace(run, stats=stats),)))
    return found


def test_front_of_the_first_two_quantities_has_the_designs_of_literal_misses(made_runs: Path) -> None:
    scatter = scatter_of(GRID, GRID.points(), groups_of(made_runs / "imape-1"))
    assert [one.title for one in scatter.quantities[:2]] == ["l2.size in MiB", "L2 misses per 1000 instructions"]
    assert scatter.quantities[0].values == (1, 1, 2, 2, 4, 4)
    assert scatter.front == [1, 4]  # 1 MiB with 4 misses, 4 MiB with 3


def test_invalid_designs_are_on_no_front(made_runs: Path) -> None:
    groups = groups_of(made_runs / "imape-1", ("the caches are cold",))
    assert scatter_of(GRID, GRID.points(), groups).front == [1]


def test_data_of_the_script_cannot_end_its_element(made_runs: Path) -> None:
    groups = groups_of(made_runs / "imape-1")
    page = explorer(GRID, GRID.points(), groups, scatter_of(GRID, GRID.points(), groups))
    (content,) = re.findall(r'<script type="application/json" id="designs">(.*?)</script>', page, re.S)
    data = json.loads(content)
    assert data["rows"][1][:2] == [["1MiB", 1 << 20], "</script>"]
    assert data["fronts"]["0,1"] == [1, 4] and data["quantities"][0]["doubling"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_page_shows_the_first_rows_of_a_long_table_and_the_csv_file_has_all() -> None:
    rows = [Row(f"design {number}", (Cell(str(number)),)) for number in range(250)]
    table = _shortened(Table("All designs", ("CPI",), rows))
    page = render("t", "", verdicts=[], notes=[], topics=[Topic("All designs", [], [table])], origins=[])
    assert page.count('<th scope="row">design ') == MOST_ROWS == 100
    assert "the page shows the first 100 of 250 designs" in page
    assert len(unquote(str(csv_link(table))).split("design ")) == 251


def test_short_table_is_whole() -> None:
    table = _shortened(Table("All designs", ("CPI",), [Row("a", (Cell("1"),))]))
    assert (table.shown, table.note) == (None, "")


def test_front_has_the_points_that_no_other_beats() -> None:
    #  8 | .   0                 0: fewest bytes
    #  5 | .   1   2             1: beats 0 and 2
    #  3 | .           3   4     3: beats 4
    #  2 |                 5
    points = [(1.0, 8.0), (1.0, 5.0), (2.0, 5.0), (3.0, 3.0), (4.0, 3.0), (4.0, 2.0)]
    assert pareto_front(points) == [1, 3, 5]


def test_equal_points_are_all_on_the_front() -> None:
    assert pareto_front([(2.0, 2.0), (1.0, 3.0), (2.0, 2.0), (2.0, 3.0)]) == [1, 0, 2]


def test_single_best_point_is_the_whole_front() -> None:
    assert pareto_front([(5.0, 5.0), (1.0, 1.0), (1.0, 4.0), (4.0, 1.0)]) == [1]


def test_points_without_a_quantity_are_left_out() -> None:
    assert pareto_front([(None, 0.0), (1.0, None), (2.0, 2.0)]) == [2]
    assert pareto_front([]) == []
