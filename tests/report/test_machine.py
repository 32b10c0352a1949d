# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels, page and name of the report state a changed design. The table of cores. The diagram of a machine: right for
every shipped machine, and readable on a screen of 400 pixels."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from s80lab.analysis.groups import read_groups, read_run
from s80lab.base import paths
from s80lab.base.suggest import names
from s80lab.config.machine import load_machine
from s80lab.report.figures.drawing import Drawing
from s80lab.report.figures.machine import machine_drawing, machine_pictures
from s80lab.report.machine import cores_tables, machine_table
from s80lab.report.write import report_name, write_experiment_report, write_run_report
from s80lab.results.metrics.derive import render
from s80lab.results.run_folder import RunFolder

CHANGED = load_machine("s80", {"l2.size": "2MiB"}).design() | {"protocol": "mesi"}


def change(run: Path, **changed: Any) -> Path:
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"scale": "small"} | changed))
    return run


def test_changed_design_is_in_label_lead_and_table(runs: Path, tmp_path: Path) -> None:
    run = change(runs / "imapb-1", protocol="mesi", design=CHANGED)
    (group,) = read_groups([run])
    assert group.label == "imapb · mesi · l2.size=2MiB"
    cells = {row.label: row.cells[0].text for row in machine_table([group]).rows}
    assert (cells["protocol"], cells["l2.size"], cells["l2.ways"]) == ("≠ mesi", "≠ 2MiB", "4")
    assert set(cells) >= CHANGED.keys()
    page = write_experiment_report("report", [run], tmp_path).read_text(encoding="utf-8")
    assert "Different from the experiment&#39;s file: mesi, l2.size=2MiB." in page
    assert '<h2 id="machine">Machine</h2>' in page and "≠ 2MiB" in page


def test_runs_of_two_designs_are_two_groups(runs: Path) -> None:
    same = load_machine("s80").design()
    folders = [change(runs / "imapb-1", design=same), change(runs / "imapb-2", protocol="mesi", design=CHANGED)]
    assert [group.label for group in read_groups(folders)] == ["imapb", "imapb · mesi · l2.size=2MiB"]


def test_reports_of_two_designs_have_two_names(runs: Path) -> None:
    run, same = runs / "imapb-1", load_machine("s80").design()
    assert report_name(read_groups([change(run, design=same)])) == "imapb-small"
    names = set()
    for values in ({"l2.size": "2MiB"}, {"l2.size": "4MiB"}, {"l2.ways": 8}, {"latency.memory": 200}):
        names.add(report_name(read_groups([change(run, design=load_machine("s80", values).design())])))
    names.add(report_name(read_groups([change(run, protocol="mesi", design=same)])))
    assert len(names) == 5
    assert all(name.startswith("imapb-small-") for name in names)


def test_machine_of_many_groups_has_one_column_with_the_common_values(runs: Path) -> None:
    designs = [load_machine("s80", {"latency.memory": 100 + number}).design() for number in range(7)]
    groups = []
    for design in designs:
        groups += read_groups([change(runs / "imapb-1", design=design)])
    table = machine_table(groups)
    cells = {row.label: row.cells[0].text for row in table.rows}
    assert table.columns == ("all",)
    assert (cells["latency.memory"], cells["latency.cache"]) == ("several values", "120")


def set_counts(run: Path, **counts: list[int]) -> None:
    path = run / "stats.json"
    stats = json.loads(path.read_text())
    stats["region"]["by_core"] |= counts
    stats["metrics"] |= {f"busy_share.{core:02d}": 0.5 for core in range(4)}
    path.write_text(render(stats))


def test_cores_have_rates_and_shares_over_the_seeds(runs: Path) -> None:
    supplied = [1, 1, 1, 1]
    set_counts(runs / "imape-1", instructions=[1000, 1000, 1000, 1000], l2_misses=[1, 1, 1, 1], interventions=supplied)
    set_counts(runs / "imape-2", instructions=[1000, 1000, 1000, 1000], l2_misses=[1, 1, 1, 7], interventions=supplied)
    (table,) = cores_tables(read_groups([runs / "imape-1", runs / "imape-2"]))
    cells = {row.label: [cell.text for cell in row.cells] for row in table.rows}
    assert cells["core 0"] == ["50.0%", "1.000", "17.5%", "25.0%"]
    assert cells["core 3"] == ["50.0%", "4.000", "47.5%", "25.0%"]
    assert "Core 3 has 2.7 times the misses of the median core." in table.note


def test_like_cores_are_not_named_and_a_run_without_counts_has_no_table(runs: Path) -> None:
    counts = {"instructions": [10] * 4, "l2_misses": [5, 6, 5, 6], "interventions": [0] * 4}
    set_counts(runs / "imape-1", **counts)
    (table,) = cores_tables(read_groups([runs / "imape-1"]))
    assert table.note.endswith("No core has twice the misses of the median core.")
    assert [row.cells[3].text for row in table.rows] == ["0.0%"] * 4
    stats = json.loads((runs / "imape-1" / "stats.json").read_text())
    del stats["region"]["by_core"]
    (runs / "imape-1" / "stats.json").write_text(render(stats))
    assert cores_tables(read_groups([runs / "imape-1"])) == []


SVG = "{http://www.w3.org/2000/svg}"
SCREEN_PX = 400 - 2 * 16
"""A screen of 400 pixels without the margins of the page."""
RATES = {
    "cpi.all": 1.1234,
    "utilisation": 0.973,
    "l1_mpki.ifetch": 4.395,
    "l1_mpki.load": 1.997,
    "l1_mpki.store": 0.765,
    "l1_mpki.walk": 0.158,
    "l2_mpki.all": 0.478,
    "miss_source.all.memory": 0.4548,
    "miss_source.all.M": 0.3263,
    "miss_source.all.O": 0.0531,
    "miss_source.all.E": 0.0688,
    "miss_source.all.S": 0.0969,
    "miss_source.all.llc": 0.1234,
    "after_recall_share.llc": 0.0211,
    "traffic_pki.fills": 0.478,
    "traffic_pki.writebacks": 0.075,
    "traffic_pki.upgrades": 0.125,
    "queue_utilisation.bus": 0.432,
    "queue_utilisation.memory": 0.301,
    "queue_wait.bus": 3.14,
}


def diagram(machine: str, **overrides: object) -> Drawing:
    loaded = load_machine(machine, {key.replace("__", "."): value for key, value in overrides.items()})
    return machine_drawing("imapb", loaded.design(), RATES.get, loaded.guest.load_processors)


def test_diagram_of_s80_has_sizes_and_rates() -> None:
    words = diagram("s80").words
    assert words[:5] == ["imapb", "18 cores", "450 MHz", "CPI 1.12", "97.3% busy"]
    assert words[5:11] == ["L1I 128 KiB", "2-way", "4.39 MPKI", "L1D 128 KiB", "2-way", "2.92 MPKI"]
    assert words[11:15] == ["L2 8 MiB", "0.478 MPKI", "4-way, inclusive", "hit: 8 cycles"]
    assert words[15:17] == ["bus, moesi", "unlimited bandwidth"]
    assert {"fills 0.478, writebacks 0.075, upgrades 0.125", "upgrade: 60 cycles"} <= set(words)
    assert {"memory", "45.5% of the misses", "110 cycles"} <= set(words)
    assert {"17 other L2s", "54.5% of the misses", "120 cycles", "M 32.6%, O 5.3%"} <= set(words)


@pytest.mark.parametrize(
    ("machine", "present", "absent"),
    [
        ("pe4600-ht", ["2 cores of 2 threads", "2.2 GHz", "L1D 8 KiB", "1 other L2"], ["4 cores"]),
        ("pe4600", ["2 cores", "L2 512 KiB"], ["2 cores of 2 threads"]),
        ("p4-2ghz", ["1 core", "2 GHz", "bus, mesi"], ["1 other L2"]),
        ("p4-2ghz-clients", ["2 cores", "1 core for the load generator alone"], []),
        ("classroom", ["4 cores", "L1I 128 bytes", "direct-mapped", "L2 256 bytes"], []),
        ("e6500", ["22 cores", "336 MHz", "L2 4 MiB", "direct-mapped, inclusive"], []),
        (
            "server-16",
            ["home, mesi-llc", "LLC 24 MiB", "12-way, 16 slices", "12.3% of the misses", "22 cycles"],
            ["bus, mesi-llc"],
        ),
        ("server-16", ["2.1% of the misses after a recall"], []),
        ("s80", [], ["12.3% of the misses"]),
        ("z900-lpar2", ["L1I 256 KiB", "8-way, inclusive", "60 cycles"], []),
    ],
)
def test_diagram_of_shipped_machine_states_its_values(machine: str, present: list[str], absent: list[str]) -> None:
    words = diagram(machine).words
    assert set(present) <= set(words)
    assert not set(absent) & set(words)


def test_diagram_with_bandwidth_states_service_times_and_utilisation() -> None:
    words = diagram("s80", bandwidth__bus=12, bandwidth__memory=40, bandwidth__banks=8).words
    assert {"43.2% busy", "12 cycles per request", "mean wait of a request", "3.1 cycles"} <= set(words)
    assert {"8 banks", "30.1% busy", "40 cycles per line"} <= set(words)
    assert "unlimited bandwidth" not in words


def test_diagram_without_measurements_has_sizes_only() -> None:
    words = machine_drawing("none", load_machine("s80").design(), lambda metric: None).words
    assert "L2 8 MiB" in words and not [word for word in words if "MPKI" in word or "%" in word or "CPI" in word]


@pytest.mark.parametrize("machine", names(paths.MACHINES))
def test_text_of_diagram_fits_a_phone_and_does_not_overlap(machine: str) -> None:
    bandwidth = {"bandwidth__bus": 12, "bandwidth__memory": 40, "bandwidth__banks": 8}
    root = ElementTree.fromstring(diagram(machine, **bandwidth).svg())
    assert float(root.attrib["width"]) <= SCREEN_PX
    lines: dict[str, list[tuple[float, float]]] = {}
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", root.attrib["font-size"]))
        assert size >= 11
        # Letters of a wide sans-serif type are 0.6 of its size wide on average.
        width, x = 0.6 * size * len(text.text or ""), float(text.attrib["x"])
        lines.setdefault(text.attrib["y"], []).append(
            (x - width, x) if "text-anchor" in text.attrib else (x, x + width)
        )
    for spans in lines.values():
        ordered = sorted(spans)
        assert ordered[0][0] >= 0 and ordered[-1][1] <= float(root.attrib["width"])
        assert all(first[1] < second[0] for first, second in itertools.pairwise(ordered))


def test_page_shows_a_diagram_per_group_with_its_text_as_alternative(runs: Path) -> None:
    (group,) = read_groups([runs / "imape-1"])
    (picture,) = machine_pictures([group])
    page = write_run_report(read_run(RunFolder(runs / "imape-1"))).read_text(encoding="utf-8")
    assert picture.title.startswith("Machine: imape")
    assert f'aria-label="{picture.title}"' in page
    assert page.index("Headline</h2>") < page.index(picture.title) < page.index('<h2 id="sources">')
    assert (runs / "imape-1" / "figures" / "machine.svg").is_file()
