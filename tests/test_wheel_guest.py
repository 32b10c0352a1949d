# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of the package outside its checkout."""

from __future__ import annotations

import pytest
from tests.lab import Lab
from tests.wheel import Installed

from s80lab.base import paths

RUNS = "imapb-tiny-s1-*"


@pytest.mark.guest
def test_its_run_is_the_checkouts_run(installed: Installed, whole: Lab) -> None:
    """The same image and checkpoints give the same bytes, wherever the package lies."""
    (installed.lab / "build").mkdir(exist_ok=True)
    for part in ("image", "qemu"):
        if not (installed.lab / "build" / part).exists() and (paths.BUILD / part).exists():
            (installed.lab / "build" / part).symlink_to(paths.BUILD / part)
    installed.call("run", "imapb", "--scale", "tiny", "--seeds", "1", S80LAB_CHECKPOINTS=str(whole.checkpoints))
    (mine,) = (installed.lab / "results" / "runs").glob(RUNS)
    (theirs,) = (whole.results / "runs").glob(RUNS)
    assert mine.name == theirs.name
    assert (mine / "stats.json").read_bytes() == (theirs / "stats.json").read_bytes()
