# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a boot: what the guest does, and how far it is of the last recorded boot."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from s80lab.base.progress import Board
from s80lab.experiment.checkpoint import Manifest, Stage
from s80lab.experiment.ready import recorded_boot, show_boot
from s80lab.guest.console import STARTING, boot_stage


def manifest(name: str, stage: Stage, wall_s: float, created: str) -> Manifest:
    return Manifest(name=name, stage=stage, key="k", inputs={}, files={}, wall_s=wall_s, created=created)


MANIFESTS = [
    manifest("ready-small-11111111", "ready", 90, "2026-01-02T00:00:00+00:00"),
    manifest("ready-small-22222222", "ready", 80, "2026-01-03T00:00:00+00:00"),
    manifest("ready-tiny-33333333", "ready", 40, "2026-01-04T00:00:00+00:00"),
    manifest("warm-imapb-small-s1-44444444", "warm", 160, "2026-01-05T00:00:00+00:00"),
    manifest("ready-small-55555555", "ready", 999, "2026-01-06T00:00:00+00:00").model_copy(update={"engine": "gem5"}),
]


@pytest.mark.parametrize(("scale", "seconds"), [("small", 80), ("tiny", 40), ("paper", None)])
def test_recorded_boot_is_that_of_the_newest_ready_checkpoint_of_the_scale(scale: str, seconds: float | None) -> None:
    assert recorded_boot(scale, MANIFESTS) == seconds


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (STARTING, ("boot: kernel", ())),
        ("boot", ("boot: system", ())),
        ("cpus 18", ("boot: cpus", ("18",))),
        ("store 40%", ("boot: mail store", ("40%",))),
        ("server takes in its mail 7%", ("boot: server takes in its mail", ("7%",))),
        ("waiting for Dovecot (IMAP, port 993)", ("boot: waiting for Dovecot (IMAP, port 993)", ())),
        ("servers", ("boot: servers", ())),
        ("ready", ("boot: logging the clients in", ())),
    ],
)
def test_stage_of_the_guest_is_named_without_its_percentage(
    printed: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    assert boot_stage(printed) == expected


@pytest.mark.parametrize(
    ("elapsed", "typical", "line"),
    [
        (25.0, 40.0, "[######....]  62%    0:15 left  scale tiny, boot: kernel, 0:25 of about 0:40"),
        (45.0, 40.0, "[..........]       0:00 so far  scale tiny, boot: kernel, 0:45 of about 0:40"),
        (25.0, None, "[..........]       0:00 so far  scale tiny, boot: kernel"),
    ],
)
def test_boot_shows_its_share_of_the_recorded_duration(elapsed: float, typical: float | None, line: str) -> None:
    board = Board(Console(file=io.StringIO(), width=80, force_terminal=True), lambda: 0.0)
    show_boot(board.job("scale tiny"), "boot: kernel", (), elapsed, typical)
    assert board.lines(80, 24) == [line]
