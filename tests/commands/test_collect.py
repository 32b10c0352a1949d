# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab collect` where another one is at work."""

from __future__ import annotations

from pathlib import Path

from tests.lab import LIMIT_S, Lab

from s80lab.base.staging import held
from s80lab.results.database import list_runs


def test_two_at_once_do_one_after_the_other(made_runs: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with held(lab.results / ".collect.lock", lambda: None):
        both = [lab.start("collect", str(made_runs)) for _ in range(2)]
        for one in both:
            assert one.stdout is not None
            assert one.stdout.readline().startswith("collect: waiting for another `s80lab collect` in ")
        assert not lab.runs()
    said = sorted(one.communicate(timeout=LIMIT_S)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0], said
    assert said[0].startswith("6 runs: 6 copied to ") and said[1].startswith("6 runs: nothing new, all are in ")
    assert len(list_runs(lab.results / "s80lab.sqlite")) == 6
