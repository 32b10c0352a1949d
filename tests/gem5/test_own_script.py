# SPDX-License-Identifier: GPL-2.0-or-later
"""The example of a user's own script (configs/gem5/own_script.py) runs in the user's gem5."""

from __future__ import annotations

import subprocess
from pathlib import Path

from s80lab.base import paths
from s80lab.gem5.stats import read_dumps

SCRIPT = paths.ROOT / "configs" / "gem5" / "own_script.py"


def test_own_script_counts_accesses_of_four_processors(gem5: Path, tmp_path: Path) -> None:
    done = subprocess.run([gem5, "-d", tmp_path, SCRIPT], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"config.ini", "config.json", "stats.txt"} <= {path.name for path in tmp_path.iterdir()}
    (dump,) = read_dumps(tmp_path / "stats.txt")
    loads = dump.matching(r"(board[.]cache_hierarchy[.].*L1Cache_Controller[.]I[.]Load)")
    assert sum(sum(values) for values in loads.values()) > 100
