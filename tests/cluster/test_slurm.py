# SPDX-License-Identifier: GPL-2.0-or-later
"""An exploration of 208 designs on a real Slurm, a node of which dies: the results are those of one host."""

from __future__ import annotations

from pathlib import Path

from tests.capture.conftest import write_capture
from tests.cluster.conftest import same
from tests.cluster.slurm import Slurm
from tests.lab import Lab

DESIGNS = 208
GRID = (
    *("--vary", "protocol=msi,mesi,mosi,moesi", "--vary", "l2.size=16KiB..128KiB"),
    *("--vary", "latency.memory=" + ",".join(str(100 + 5 * step) for step in range(DESIGNS // 16))),
)


def test_exploration_in_slurm_tasks_equals_the_local_exploration(cluster: Slurm, shared: Lab, tmp_path: Path) -> None:
    """One task is told to end as before its limit, a node dies with another and comes back."""
    capture = write_capture(tmp_path / "drawn.s80c", accesses=500_000)
    local = Lab(tmp_path / "checkpoints", tmp_path / "local" / "results")
    local.call("explore", str(capture), *GRID)

    script = shared.answer("batch", "--slurm", "--tasks", "4", "explore", str(capture), *GRID)
    job = cluster.submit(script)
    begun = " 0 of them replayed already"
    cluster.until(lambda: cluster.said().count(begun) == 2 and len(shared.runs()) >= 10, "two tasks in the middle")
    told = _by_node(cluster, "n2")
    assert _by_node(cluster, "n1")  # which its power cut ends
    cluster.terminate(told)
    cluster.power_cut("n1")
    cluster.work_off()
    assert "partial results are deleted" in (cluster.folder / f"out-{told.partition('_')[2]}").read_text()
    assert job in told and len(shared.runs()) < DESIGNS

    cluster.submit(script)  # does what is missing
    cluster.work_off()
    assert (len(shared.runs()), shared.partial()) == (DESIGNS, [])
    assert not (shared.results / "s80lab.sqlite").exists()
    assert f"{DESIGNS} runs: 0 copied" in shared.call("collect")
    assert same(local, shared)


def _by_node(cluster: Slurm, node: str) -> str:
    """The task that runs there, as `17_3`."""
    return cluster.call(
        "squeue", "--noheader", "--array", "--states=RUNNING", f"--nodelist={node}", "--format=%i"
    ).strip()
