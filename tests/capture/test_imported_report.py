# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a replay whose capture is an imported trace: its name, and only what has a value."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lab import Lab

DIN = "0 1000\n1 1000\n0 2000\n1 2000\n0 3000\n"


def test_replay_of_an_imported_trace_prints_only_what_has_a_value(place: Lab, tmp_path: Path) -> None:
    trace, capture = tmp_path / "mine.din", tmp_path / "mine.s80c"
    trace.write_text(DIN)
    place.call("trace", "import", str(trace), "--format", "din", "--out", str(capture))
    lines = place.answer("replay", str(capture)).splitlines()
    assert lines[0] == "machine s80, protocol moesi"
    assert lines[1].startswith("mine: invalid (not a result).")
    assert lines[lines.index("Headline") + 1].split() == ["mine"]
    assert not [line for line in lines if re.search(r"\s-$", line)]
    assert not [line for line in lines if line.startswith(("C01 ", "Comparison with the paper", "Mail transport"))]


def test_report_page_of_an_imported_trace_has_no_claims(place: Lab, tmp_path: Path) -> None:
    trace, capture = tmp_path / "mine.din", tmp_path / "mine.s80c"
    trace.write_text(DIN)
    place.call("trace", "import", str(trace), "--format", "din", "--out", str(capture))
    place.call("replay", str(capture))
    (run,) = place.runs()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="headline">' in page and ">mine</th>" in page
    assert "Comparison with the paper" not in page and "<td>-</td>" not in page
