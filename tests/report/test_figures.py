# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts: true positions on axes, no overlapping labels, and text that can be read. The heat map of core-to-core
supply, and the miss-ratio curve over the L2 sizes of replays in the database."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.report.audit import contrast

from s80lab.analysis.groups import read_groups, read_run
from s80lab.analysis.interval import Estimate
from s80lab.config.grid import Axis, Grid
from s80lab.report.figures.all import draw_all
from s80lab.report.figures.chart import Scale, percent, stacked_bars, text_px
from s80lab.report.figures.curves import Panel, curves_figure
from s80lab.report.figures.load import latency
from s80lab.report.figures.miss_ratio import miss_ratio_pictures, replays_over_sizes
from s80lab.report.figures.style import COLOURS, on, panel_each, style
from s80lab.report.figures.supply import SUPPLY, supply_pictures, supply_pictures_of
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.write import write_run_report
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import render
from s80lab.results.run_folder import RunFolder

SVG = "{http://www.w3.org/2000/svg}"
PHONE_PX = 400 - 2 * 16
"""A screen of 400 pixels without the margins of the page."""


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (8, 3)])
def test_panels_wrap_into_columns_that_fit(count: int, columns: int) -> None:
    with style():
        figure, axes = panel_each(count, 2.0)
    assert len(axes) == count == sum(axis.get_visible() for axis in figure.axes)
    assert len({axis.get_position().x0 for axis in axes}) == columns
    assert figure.get_figheight() == 2.0 * -(-count // columns)


def test_response_times_of_unlike_groups_are_all_within_their_charts(runs: Path) -> None:
    """All charts have one scale; the slower group is drawn last."""
    slow = runs / "imape-1" / "transactions.json"
    load = json.loads(slow.read_text())
    for entry in load["transactions"].values():
        entry["histogram"] = [[upper * 1000, count] for upper, count in entry["histogram"]]
    slow.write_text(json.dumps(load))
    fast, slow_chart = (
        [float(dot.attrib["cx"]) for dot in ElementTree.fromstring(chart.svg()).iter(f"{SVG}circle")]
        for chart in latency(read_groups([runs / "imapb-1", runs / "imape-1"]))
    )
    assert min(fast) > 0 and max(slow_chart) < PHONE_PX
    assert max(fast) < min(slow_chart)


def test_text_of_every_chart_fits_a_phone_and_does_not_overlap(runs: Path) -> None:
    for picture in draw_all(read_groups(sorted(runs.glob("imap?-?")))):
        assert picture.parts
        for part in picture.parts:
            root = ElementTree.fromstring(part)
            assert float(root.attrib["width"]) <= PHONE_PX
            lines: dict[float, list[tuple[float, float, str]]] = {}
            for text in root.iter(f"{SVG}text"):
                size = float(text.get("font-size", root.attrib["font-size"]))
                assert size >= 11
                x, words = float(text.attrib["x"]), text.text or ""
                share = {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor", ""), 0.0)
                width = 0.9 * text_px(words, size)
                begin = x - share * width
                lines.setdefault(float(text.attrib["y"]), []).append((begin, begin + width, words))
            for spans in lines.values():
                ordered = sorted(spans)
                assert ordered[0][0] >= -2 and ordered[-1][1] <= float(root.attrib["width"]) + 2, picture.name
                for first, second in itertools.pairwise(ordered):
                    assert first[1] <= second[0] + 1, (picture.name, first, second)


def test_ticks_are_round_values_at_their_true_positions() -> None:
    linear = Scale(0.0, 0.15, 0.0, 300.0)
    assert [percent(tick) for tick in linear.ticks(6)] == ["0%", "5%", "10%", "15%"]
    assert linear.px(0.05) == pytest.approx(100)
    logarithmic = Scale(1.0, 100.0, 0.0, 300.0, logarithmic=True)
    assert logarithmic.ticks(7) == [1, 2, 5, 10, 20, 50, 100]
    assert logarithmic.px(10.0) == pytest.approx(150)


def test_stacked_bar_parts_have_the_width_of_their_values() -> None:
    svg = stacked_bars("title", [("all", [0.25, 0.75])], {"memory": "memory", "M": "M"}, "share").svg()
    widths = [float(width) for width in re.findall(r'width="([0-9.]+)" height="15"', svg)]
    assert widths[1] == pytest.approx(3 * widths[0], rel=1e-4)
    assert ">25<" in svg and ">75<" in svg


@pytest.mark.parametrize("name", COLOURS)
def test_numbers_inside_bars_can_be_read(name: str) -> None:
    assert contrast(on(COLOURS[name]), COLOURS[name]) >= 4.5


def positions(values: tuple[str, ...]) -> tuple[str, list[float], list[str]]:
    """Scale, tick positions and labels of the curves over these values."""
    grid = Grid((Axis("clients", values),))
    with style():
        figure = curves_figure(
            grid, grid.points(), lambda point, metric: Estimate(float(point), None, 1), [Panel("cpi.all", "CPI")] * 2
        )
    axis = figure.axes[0]
    labels = [label.get_text() for label in axis.get_xticklabels()]
    return axis.get_xscale(), [float(tick) for tick in axis.get_xticks()], labels


def test_curves_have_true_positions() -> None:
    clients = ("10", "30", "60", "90", "120", "200")
    assert positions(clients) == ("linear", [10, 30, 60, 90, 120, 200], list(clients))
    sizes = ("512KiB", "1MiB", "2MiB", "4MiB")
    assert positions(sizes) == ("log", [2.0**power for power in (19, 20, 21, 22)], list(sizes))
    assert positions(("lru", "plru"))[:2] == ("linear", [0, 1])


def test_label_that_would_overlap_the_one_before_is_left_out() -> None:
    assert positions(("1000", "1001", "2000"))[2] == ["1000", "", "2000"]


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


def test_heat_map_is_absent_for_other_tables_and_empty_matrices() -> None:
    assert supply_pictures_of(Table("Misses by reason", ("misses",), [Row("cold", (Cell("1"),))])) == []
    assert supply_pictures_of(supply([[0, 0], [0, 0]])) == []


def test_report_shows_heat_map_of_a_run_with_a_log_of_misses(runs: Path) -> None:
    run = runs / "imape-1"
    assert supply_pictures(read_groups([run])) == []
    (run / "misses.json").write_text(json.dumps([asdict(supply())]))
    page = write_run_report(read_run(RunFolder(run))).read_text(encoding="utf-8")
    assert page.index('<h2 id="misses">') < page.index("Heat map of core-to-core supply. imape")


KIB = 1024


def add_replay(database: Path, template: Path, size: int, mpki: float, *, form: str = "full", **design: object) -> None:
    """A valid replay of the template's workload with this L2."""
    name = f"replay-{form}-{size}-{'-'.join(map(str, design.values()))}"
    folder = Path(shutil.copytree(template, database.parent / name))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    changed = {key.replace("__", "."): value for key, value in design.items()}
    manifest["design"] |= {"l2.size": size} | changed
    capture = {"name": "drawn", "form": form, "clients": 40, "think_ms": 4}
    path.write_text(json.dumps(manifest | {"run": name, "engine": "replay", "capture": capture, "filter_error": None}))
    stats = json.loads((folder / "stats.json").read_text())
    stats["metrics"]["l2_mpki.all"] = mpki
    (folder / "stats.json").write_text(render(stats))
    insert_run(database, RunFolder(folder))


@pytest.fixture
def database(runs: Path, tmp_path: Path) -> Path:
    """Replays with three sizes; and one whose latency differs, too."""
    found = tmp_path / "s80lab.sqlite"
    for size, mpki in ((512 * KIB, 8.0), (2048 * KIB, 4.0), (8192 * KIB, 2.0)):
        add_replay(found, runs / "imape-1", size, mpki)
    add_replay(found, runs / "imape-1", 1024 * KIB, 9.0, latency__memory=200)
    return found


def test_replays_of_the_same_machine_are_found_by_size(runs: Path, database: Path) -> None:
    manifest = json.loads((runs / "imape-1" / "manifest.json").read_text())
    found = replays_over_sizes(database, manifest | {"server": "dovecot", "image": "debian"})
    assert [(one.size // KIB, one.mpki) for one in found] == [(512, 8.0), (2048, 4.0), (8192, 2.0)]


def test_sizes_have_their_true_positions_on_a_logarithmic_axis(runs: Path, database: Path) -> None:
    (picture,) = miss_ratio_pictures(read_groups([runs / "imape-1"]), database)
    dots = [dot for dot in ElementTree.fromstring(picture.svg).iter(f"{SVG}circle") if dot.get("fill") != "none"]
    xs, ys = ([float(dot.attrib[key]) for dot in dots] for key in ("cx", "cy"))
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.01)
    assert ys[2] - ys[1] == pytest.approx((ys[1] - ys[0]) / 2, abs=0.01)


def test_too_few_sizes_and_no_database_give_no_curve(runs: Path, tmp_path: Path) -> None:
    groups = read_groups([runs / "imape-1"])
    assert miss_ratio_pictures(groups, None) == []
    few = tmp_path / "few.sqlite"
    for size in (512 * KIB, 1024 * KIB):
        add_replay(few, runs / "imape-1", size, 1.0)
    assert miss_ratio_pictures(groups, few) == []
