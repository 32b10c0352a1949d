# SPDX-License-Identifier: GPL-2.0-or-later
"""What a replay is held against: the live run's snapshots up to the end of its region, less what captures lack."""

from __future__ import annotations

import json
from pathlib import Path

from s80lab.capture.live import up_to_the_end


def test_counters_of_the_guest_and_of_the_clients_are_left_out(tmp_path: Path) -> None:
    header = {"schema": 1}
    window = {"mark": "window", "values": {"l2_misses": [1]}}
    end = {"mark": "measure_end", "values": {"l2_misses": [2]}}
    live = [header, window | {"guest": {"ticks": 3}, "clients_finished": 2}, end | {"clients_finished": 2}]
    path = tmp_path / "snapshots.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*live, {"mark": "exit", "values": {}}]))
    assert up_to_the_end(path) == [header, window, end]
