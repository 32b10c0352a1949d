# SPDX-License-Identifier: GPL-2.0-or-later
"""The heat map of core-to-core supply."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from s80lab.analysis.groups import read_groups
from s80lab.report.figures.supply import SUPPLY, supply_pictures, supply_pictures_of
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.write import write_run_report

SVG = "{http://www.w3.org/2000/svg}"
MATRIX = [[0, 1200, 3], [40, 0, 5], [0, 0, 0]]


def supply(matrix: list[list[int]] = MATRIX) -> Table:
    rows = [Row(str(core), tuple(Cell(f"{count:,}") for count in counts)) for core, counts in enumerate(matrix)]
    return Table(SUPPLY, tuple(str(core) for core in range(len(matrix))), rows)


def test_heat_map_shades_each_cell_by_its_number() -> None:
    (picture,) = supply_pictures_of(supply())
    cells = {
        cell.findtext(f"{SVG}title"): float(cell.attrib["fill-opacity"])
        for cell in ElementTree.fromstring(picture.svg).iter(f"{SVG}rect")
    }
    assert cells["core 0 missed, core 1 supplied: 1,200"] == 1
    assert cells["core 1 missed, core 0 supplied: 40"] == 0.0333
    assert cells["core 2 missed, core 0 supplied: 0"] == 0
    assert (cells["core 0 missed: 1,203"], cells["core 1 supplied: 1,200"]) == (1, 0.998)


def test_heat_map_states_total_and_largest_number_in_words() -> None:
    (picture,) = supply_pictures_of(supply())
    assert picture.title == (
        "Heat map of core-to-core supply. 1,248 misses that other caches supplied. The largest number is 1,200 "
        "(96.2%): core 0 missed and core 1 supplied."
    )


def test_labels_of_many_cores_do_not_overlap() -> None:
    cores = 32
    (picture,) = supply_pictures_of(supply([[1] * cores for _ in range(cores)]))
    root = ElementTree.fromstring(picture.svg)
    places = [float(text.attrib["x"]) for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "middle"]
    assert min(second - first for first, second in itertools.pairwise(places)) >= 16
    assert {text.get("font-size") for text in root.iter(f"{SVG}text")} == {"11"}


def test_other_tables_and_empty_matrices_have_no_heat_map() -> None:
    assert supply_pictures_of(Table("Misses by reason", ("misses",), [Row("cold", (Cell("1"),))])) == []
    assert supply_pictures_of(supply([[0, 0], [0, 0]])) == []


def test_report_shows_heat_map_of_a_run_with_a_log_of_misses(runs: Path) -> None:
    run = runs / "imape-1"
    assert supply_pictures(read_groups([run])) == []
    (run / "misses.json").write_text(json.dumps([asdict(supply())]))
    page = write_run_report(run).read_text(encoding="utf-8")
    assert page.index('<h2 id="misses">') < page.index("Heat map of core-to-core supply. imape")
