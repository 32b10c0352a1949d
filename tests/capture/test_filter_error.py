# SPDX-License-Identifier: GPL-2.0-or-later
"""What a filtered replay says of itself: the row of the table that was measured, or that there is none."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.lab import Lab

from s80lab.analysis.groups import read_run
from s80lab.base.errors import UserError
from s80lab.capture import replay
from s80lab.capture.design import resolve_design
from s80lab.capture.error import ANY_SHARE, HOME_QUANTITIES, LLC_TABLE, QUANTITIES, TABLE, differences, filter_error
from s80lab.capture.store import Capture
from s80lab.report.filter_error import table_text, write_table
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder

KIB = 1 << 10
TRUE = {
    "miss_source.all.memory": 0.5,
    "miss_source.all.M": 0.5,
    "fill_state.E": 0.2,
    "e_share": 0.2,
    "e_to_m_share": None,
    "l2_mpki.all": 2.0,
    "upgrade_pki.made": 0.5,
}
OTHER = TRUE | {"miss_source.all.memory": 0.48, "miss_source.all.M": 0.52, "e_share": 0.21, "l2_mpki.all": 1.9}


def row(protocol: str, size: int, points: float, inclusion: str = "inclusive") -> dict[str, Any]:
    errors = dict.fromkeys([*(one.name for one in QUANTITIES), ANY_SHARE], points)
    return {"protocol": protocol, "l2.size": size, "l2.inclusion": inclusion, "errors": errors}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "filter-error.json"
    rows = [row("moesi", 64 * KIB, 0.7), row("moesi", 256 * KIB, 0.1), row("mesi", 64 * KIB, 0.3)]
    path.write_text(json.dumps({"schema": 1, "rows": rows}))
    return path


def test_differences_are_points_of_shares_and_percent_of_rates() -> None:
    found = differences(TRUE, OTHER)
    assert found["memory_share"] == pytest.approx(-2)
    assert found["e_share"] == pytest.approx(1)
    assert found["mpki"] == pytest.approx(-5)
    assert found["upgrades"] == 0
    assert found["e_to_m_share"] is None
    assert found[ANY_SHARE] == pytest.approx(2)


AT_HOME = {"miss_source.all.llc": 0.3, "recalls_pki.llc": 0.4, "recalls_pki.directory": 0.0}


def test_differences_of_a_home_are_those_of_llc_misses_and_recalls() -> None:
    true, other = TRUE | AT_HOME, OTHER | AT_HOME | {"miss_source.all.llc": 0.33, "recalls_pki.llc": 0.3}
    found = differences(true, other)
    assert found["llc_share"] == pytest.approx(3)
    assert found["llc_misses"] == pytest.approx(100 * (0.48 * 1.9 / (0.5 * 2.0) - 1))
    assert found["recalls_llc"] == pytest.approx(-25)
    assert found["recalls_directory"] is None
    assert found[ANY_SHARE] == pytest.approx(3)
    assert "llc_share" not in differences(TRUE, OTHER)


HOME = {"protocol": "mesif-snoop-filter", "llc.ways": 8, "latency.llc": 40}
DIRECTORY = HOME | {"directory.entries": "1x", "directory.ways": 8}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            DIRECTORY | {"llc.size": "256KiB"},
            "with a 64KiB inclusive L2, 256KiB LLC, directory of 2,048 entries under mesif-snoop-filter (measured at "
            "64KiB, 128KiB LLC, directory of 1,024 entries): misses serviced by memory +0.40 points",
        ),
        (DIRECTORY | {"llc.size": "256KiB"}, "misses serviced by the LLC +0.40 points, LLC misses +0.40 %, recalls by"),
        (HOME | {"llc.size": "128KiB"}, "128KiB LLC under mesif-snoop-filter: misses serviced by memory +0.20 points"),
        (
            HOME | {"llc.size": "64KiB"},
            "64KiB LLC under mesif-snoop-filter has not been measured (smallest measured L2: 64KiB, 128KiB LLC)",
        ),
    ],
)
def test_filter_error_of_a_home_is_that_of_the_next_smaller_sizes(
    filtered: Capture, tmp_path: Path, settings: dict[str, object], words: str
) -> None:
    """A design with a directory of bounded size is not like one whose directory knows every copy."""
    known = [one.name for one in HOME_QUANTITIES]
    rows = [
        row("mesif-snoop-filter", 64 * KIB, points) | {"llc.size": 128 * KIB} | more
        for points, more in ((0.2, {}), (0.4, {"directory.entries": 1024}))
    ]
    for one in rows:
        one["errors"] |= dict.fromkeys(known, one["errors"]["mpki"])
    table = tmp_path / "filter-error-llc.json"
    table.write_text(json.dumps({"schema": 1, "rows": rows}))
    design = resolve_design(filtered, None, "mesif-snoop-filter", settings)
    found = filter_error(filtered, design, [tmp_path / "missing.json", table])
    assert found is not None
    assert words in found["statement"]


def test_table_of_a_design_with_a_home_lists_llc_misses_and_recalls(inside: Lab, full: Capture) -> None:
    design = resolve_design(full, None, "mesi-llc", {"llc.size": "96KiB", "llc.ways": 6, "latency.llc": 40})
    run = read_run(RunFolder(asyncio.run(replay.replay(full, design, lambda done, total: None))))
    recalls = run.metrics["recalls_pki.llc"]
    assert recalls
    fewer = replace(run, stats={"metrics": {**run.metrics, "recalls_pki.llc": 0.75 * recalls}})
    capture = replace(full, origin={"capture": "drawn", "skip": 0, "measure": 100_000})
    text = table_text(capture, [run], [fewer])
    (one,) = json.loads(text)["rows"]
    assert (one["l2.size"], one["llc.size"], one["errors"]["recalls_llc"]) == (64 * KIB, 96 * KIB, pytest.approx(-25))
    assert one["full"]["llc_misses"] > 0 and one["errors"]["llc_misses"] == 0
    out = inside.results / "table.json"
    table = write_table(out, text)
    assert table.columns[5:7] == ("misses serviced by the LLC, points", "LLC misses, %")
    assert "| mesi-llc, 64KiB inclusive, 96KiB LLC | +0.00 |" in out.with_suffix(".md").read_text()
    # A second measurement replaces the row of its design, and keeps the others of the capture.
    larger = replace(run, manifest={**run.manifest, "design": run.manifest["design"] | {"llc.size": 192 * KIB}})
    both = json.loads(table_text(capture, [larger], [larger], out))["rows"]
    assert [(row["llc.size"] // KIB, row["errors"]["recalls_llc"]) for row in both] == [
        (96, pytest.approx(-25)),
        (192, 0),
    ]
    assert json.loads(table_text(capture, [run], [run], out))["rows"][0]["errors"]["recalls_llc"] == 0
    assert (
        len(
            json.loads(
                table_text(replace(capture, origin={**capture.origin, "capture": "other"}), [larger], [larger], out)
            )["rows"]
        )
        == 1
    )


def test_full_capture_has_no_filter_error(full: Capture, table: Path) -> None:
    assert filter_error(full, resolve_design(full), [table]) is None


@pytest.mark.parametrize(
    ("protocol", "size", "points", "words"),
    [
        ("moesi", "64KiB", 0.7, "with a 64KiB inclusive L2 under moesi: misses serviced by memory +0.70 points"),
        ("moesi", "128KiB", 0.7, "under moesi (measured at 64KiB): misses serviced by memory +0.70"),
        ("moesi", "1MiB", 0.1, "(measured at 256KiB)"),
        ("mesi", "64KiB", 0.3, "under mesi: misses serviced by memory +0.30 points"),
    ],
)
def test_filter_error_is_that_of_the_next_smaller_measured_l2(
    filtered: Capture, table: Path, protocol: str, size: str, points: float, words: str
) -> None:
    found = filter_error(filtered, resolve_design(filtered, None, protocol, {"l2.size": size}), [table])
    assert found is not None
    assert found["errors"]["mpki"] == points
    assert words in found["statement"]


@pytest.mark.parametrize(
    ("protocol", "settings", "words"),
    [
        ("moesi", {"l2.size": "32KiB"}, "has not been measured (smallest measured L2: 64KiB)"),
        ("msi", {}, "under msi has not been measured"),
        ("moesi", {"l2.inclusion": "exclusive"}, "exclusive L2 under moesi has not been measured"),
    ],
)
def test_filter_error_that_was_not_measured_is_stated(
    filtered: Capture, table: Path, protocol: str, settings: dict[str, object], words: str
) -> None:
    found = filter_error(filtered, resolve_design(filtered, None, protocol, settings), [table])
    assert found is not None
    assert found["errors"] == {}
    assert words in found["statement"]


@pytest.mark.parametrize("origin", [{"workload": "-", "program": ["./queue"]}, {"imported": "lackey"}])
def test_error_of_a_mail_server_is_not_stated_for_a_program(
    filtered: Capture, table: Path, origin: dict[str, object]
) -> None:
    found = filter_error(replace(filtered, origin=origin), resolve_design(filtered), [table])
    assert found is not None and found["errors"] == {}
    assert "measured with a mail server, not with this program" in found["statement"]


def test_filter_error_without_table_is_stated_as_not_measured(filtered: Capture, tmp_path: Path) -> None:
    found = filter_error(filtered, resolve_design(filtered), [tmp_path / "missing.json"])
    assert found is not None and "has not been measured" in found["statement"]


def test_existing_replay_is_updated_with_newly_measured_filter_error(
    inside: Lab, filtered: Capture, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers are the full capture's here: what is stated is what matters."""
    design = resolve_design(filtered, None, "mesi", {})

    def stated() -> str:
        folder = asyncio.run(replay.replay(filtered, design, lambda done, total: None))
        return str(RunFolder(folder).manifest["filter_error"]["statement"])

    assert "has not been measured" in stated()
    monkeypatch.setattr(replay, "filter_error", partial(filter_error, tables=[table]))
    assert "misses serviced by memory +0.30 points" in stated()
    rows = select(inside.results / "s80lab.sqlite", "SELECT error FROM filter_error WHERE quantity = 'e_share'")[1]
    assert [tuple(row) for row in rows] == [(0.3,)]


def test_write_table_writes_markdown_beside_a_file_but_not_beside_a_pipe(tmp_path: Path) -> None:
    text = TABLE.read_text(encoding="utf-8")
    pipe, file = tmp_path / "pipe" / "out", tmp_path / "file" / "out.json"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    of_pipe = write_table(pipe, text)
    reader.join()
    assert received == [text] and pipe.is_fifo() and list(pipe.parent.iterdir()) == [pipe]
    assert write_table(file, text) == of_pipe
    assert file.read_text(encoding="utf-8") == text
    assert file.with_suffix(".md").read_bytes() == TABLE.with_suffix(".md").read_bytes()


def test_filter_error_table_of_other_schema_is_refused(filtered: Capture, table: Path) -> None:
    table.write_text(json.dumps({"schema": 2, "rows": []}))
    with pytest.raises(
        UserError,
        match=r"filter-error.json: has schema 2, but this version of s80lab reads schema 1; make the table again",
    ):
        filter_error(filtered, resolve_design(filtered), [table])


@pytest.mark.skipif(not TABLE.is_file(), reason="the table has not been measured yet")
def test_shipped_filter_error_table_covers_protocols_and_sizes() -> None:
    rows = json.loads(TABLE.read_text())["rows"]
    sizes = {512 * KIB << step for step in range(6)}
    for protocol in ("msi", "mesi", "mosi", "moesi", "moesi-without-e", "mesif", "hammer"):
        assert {one["l2.size"] for one in rows if one["protocol"] == protocol} == sizes


def test_shipped_filter_error_table_covers_each_form_of_a_last_level_cache() -> None:
    rows = json.loads(LLC_TABLE.read_text())["rows"]
    assert {row["protocol"] for row in rows} == {"mesi-llc", "mesif-snoop-filter", "chi-slc"}
    assert all(row["errors"]["llc_misses"] is not None for row in rows)
    assert all(row["errors"]["recalls_llc"] is not None for row in rows if row["protocol"] == "mesi-llc")
    assert all(row["errors"]["recalls_directory"] is not None for row in rows if "directory.entries" in row)
    assert any("directory.entries" in row for row in rows)
