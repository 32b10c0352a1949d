# SPDX-License-Identifier: GPL-2.0-or-later
"""A grid from the command line: the same bytes however many processes, nothing half after a kill, a page at the end.
One capture explores designs of the last-level cache and of the directory."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.capture.conftest import damaged, write_capture
from tests.lab import LIMIT_S, Lab

GRID = ("--vary", "protocol=msi,moesi,hammer", "--vary", "l2.size=32KiB..64KiB")


def products(lab: Lab) -> dict[str, tuple[bytes, bytes]]:
    """Statistics and snapshots of every run, by its name, which has the hash of all inputs."""
    return {
        folder.name: ((folder / "stats.json").read_bytes(), (folder / "snapshots.jsonl").read_bytes())
        for folder in lab.runs()
    }


@pytest.fixture(scope="module")
def explored(drawn_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, str]:
    """The grid with two processes at once, and what was said."""
    root = tmp_path_factory.mktemp("explored")
    lab = Lab(root / "checkpoints", root / "results")
    return lab, lab.call("explore", str(drawn_file), *GRID, "--jobs", "2")


def test_explore_with_one_process_gives_the_bytes_of_two(
    explored: tuple[Lab, str], place: Lab, drawn_file: Path
) -> None:
    place.call("explore", str(drawn_file), *GRID, "--jobs", "1")
    assert len(products(place)) == 6
    assert products(place) == products(explored[0])


def test_explored_designs_are_in_the_database(explored: tuple[Lab, str]) -> None:
    with sqlite3.connect(explored[0].results / "s80lab.sqlite") as database:
        rows = database.execute("SELECT protocol, l2_size, l2_inclusion, l2_mpki, e_share FROM v_design_all").fetchall()
    found = {(protocol, size): inclusion for protocol, size, inclusion, _, _ in rows}
    sizes = (32768, 65536)
    assert found == {
        **{(protocol, size): "inclusive" for protocol in ("msi", "moesi") for size in sizes},
        **{("hammer", size): "exclusive" for size in sizes},
    }
    assert {e_share for protocol, *_, e_share in rows if protocol == "msi"} == {0}
    misses = {(protocol, size): mpki for protocol, size, _, mpki, _ in rows}
    assert all(misses[protocol, sizes[0]] > misses[protocol, sizes[1]] for protocol in ("msi", "moesi", "hammer"))


def test_explore_prints_designs_and_names_unknown_metrics(explored: tuple[Lab, str]) -> None:
    said = explored[1]
    for protocol in ("msi", "moesi", "hammer"):
        for size in ("32KiB", "64KiB"):
            assert f"{protocol}, l2.size {size}" in said
    assert "there are no response times and no throughput" in " ".join(said.split())
    assert re.search(r"6 replayed in \d+ s", said)


def test_explore_marks_designs_without_steady_state_as_invalid(explored: tuple[Lab, str]) -> None:
    assert "6 of 6 designs: invalid." in explored[1]
    rows = [line.split() for line in explored[1].splitlines() if ", l2.size " in line]
    assert [row[-1] for row in rows[:6]] == ["invalid"] * 6


def test_explore_page_has_text_and_curves(explored: tuple[Lab, str]) -> None:
    (page,) = (explored[0].results / "reports").glob("explore-drawn-full-*/report.html")
    text = page.read_text()
    assert "{{" not in text and "protocol = msi, moesi, hammer; l2.size = 32KiB, 64KiB" in text
    assert "6 of 6 designs: invalid." in text
    assert "&" not in text[text.index("<style>") : text.index("</style>")]
    ElementTree.fromstring((page.parent / "figures" / "curves.svg").read_text())
    assert (page.parent / "figures" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert str(explored[0].results) not in text


def test_explore_page_has_table_and_scatter_plot_with_script_data(explored: tuple[Lab, str]) -> None:
    (page,) = (explored[0].results / "reports").glob("explore-drawn-full-*/report.html")
    text = page.read_text()
    ElementTree.fromstring((page.parent / "figures" / "scatter.svg").read_text())
    (content,) = re.findall(r'<script type="application/json" id="designs">(.*?)</script>', text, re.S)
    data = json.loads(content)
    assert data["columns"][:3] == [["protocol", 0], ["l2.size", 1], ["L2 MPKI", 1]]
    assert len(data["rows"]) == len(data["labels"]) == 6 and data["rows"][0][1] == ["32KiB", 32768]
    titles = [one["title"] for one in data["quantities"]]
    assert titles[:2] == ["l2.size in MiB", "L2 misses per 1000 instructions"]
    sizes, misses = (one["values"] for one in data["quantities"][:2])
    front = data["fronts"]["0,1"]
    assert {sizes[one] for one in front} == {1 / 32, 1 / 16}
    best = {size: min(miss for one, miss in zip(sizes, misses, strict=True) if one == size) for size in sizes}
    assert all(misses[one] == best[sizes[one]] for one in front)
    assert '<div id="static-designs">' in text and "http" not in content


def test_invalid_grid_point_is_refused_before_any_replay(place: Lab, drawn_file: Path) -> None:
    said = place.call("explore", str(drawn_file), "--vary", "l2.size=64KiB,96KiB", code=2)
    assert "the number of sets must be a power of two" in said
    assert place.runs() == []


def test_design_that_is_named_twice_is_replayed_once(place: Lab, drawn_file: Path) -> None:
    said = place.call("explore", str(drawn_file), "--vary", "l2.size=64KiB,65536")
    assert "2 designs, 0 of them replayed already" in said and "1 replayed in" in said
    assert len(place.runs()) == 1


def test_explore_of_corrupt_capture_gives_one_sentence_and_no_run(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    broken = damaged(drawn_file, tmp_path / "broken.s80c")
    said = place.call("explore", str(broken), *GRID, code=2)
    assert said.count("s80lab: the capture") == said.count("is corrupt") == 1
    assert "Traceback" not in said
    assert (place.runs(), place.partial()) == ([], [])


def test_explore_resumes_with_missing_runs_after_a_kill(place: Lab, tmp_path: Path) -> None:
    """More accesses, so that there is a middle."""
    capture = write_capture(tmp_path / "long.s80c", accesses=1_000_000)
    grid = ("--vary", "l2.size=16KiB..1MiB", "--jobs", "1")
    process = place.start("explore", str(capture), *grid)
    while not place.runs():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)
    process.kill()
    process.communicate(timeout=LIMIT_S)
    done = {folder.name: folder.stat().st_mtime_ns for folder in place.runs()}
    assert 0 < len(done) < 7
    for folder in place.runs():
        assert json.loads((folder / "manifest.json").read_text())["status"] == "whole"
    said = place.call("explore", str(capture), *grid)
    assert f"7 designs, {len(done)} of them replayed already" in said
    assert f"{7 - len(done)} replayed in" in said
    assert place.partial() == []
    assert len(place.runs()) == 7
    assert {folder.name: folder.stat().st_mtime_ns for folder in place.runs() if folder.name in done} == done
    with sqlite3.connect(place.results / "s80lab.sqlite") as database:
        assert database.execute("SELECT count(*) FROM run").fetchall() == [(7,)]


SETTINGS = ("llc.ways=12", "llc.slices=4", "latency.llc=40", "directory.ways=8")


def test_explore_varies_last_level_cache_and_directory(tmp_path: Path) -> None:
    """More entries leave more copies in the L2s; the size of the LLC does not change what the L2s hold."""
    capture = write_capture(tmp_path / "drawn.s80c")
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    varied = [
        *("--vary", "protocol=mesif-snoop-filter"),
        *("--vary", "llc.size=24KiB,96KiB"),
        *("--vary", "directory.entries=256,2x"),
    ]
    shown = lab.call("explore", str(capture), *(f"--set={setting}" for setting in SETTINGS), *varied)
    mpki, memory = {}, {}
    for line in shown.splitlines():
        if line.startswith("mesif-snoop-filter, llc.size"):
            design, first, second, *_ = [part for part in line.split("  ") if part]
            mpki[design] = float(first.strip().replace(",", ""))
            memory[design] = float(second.strip().rstrip("%"))
    small, large = ("mesif-snoop-filter, llc.size 24KiB", "mesif-snoop-filter, llc.size 96KiB")
    assert len(mpki) == 4
    assert mpki[f"{small}, directory.entries 256"] > mpki[f"{small}, directory.entries 2x"]
    for entries in ("256", "2x"):
        design = f"directory.entries {entries}"
        assert mpki[f"{small}, {design}"] == mpki[f"{large}, {design}"]
        assert memory[f"{small}, {design}"] > memory[f"{large}, {design}"]
