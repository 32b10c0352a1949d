# SPDX-License-Identifier: GPL-2.0-or-later
"""`--boots`: each number is a guest of its own, and boot 1 is the boot of a run without the option. Progress of a boot:
what the guest does, and how far the boot is compared with the last recorded one."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.config.experiment import load_experiment
from s80lab.experiment.checkpoint import Manifest, Stage
from s80lab.experiment.entries import manifest_entries
from s80lab.experiment.plan import Options, planner
from s80lab.experiment.ready import recorded_boot, show_boot
from s80lab.guest.command import guest_options
from s80lab.guest.console import STARTING, boot_stage
from s80lab.guest.qemu import find_qemu


def test_boots_have_checkpoints_and_guests_of_their_own(lab: Lab) -> None:
    found = planner("imapb", Options(seeds=[1, 2], boots=[1, 2, 3]))(find_qemu())
    assert [(plan.boot_number, plan.seed) for plan in found] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
    assert len({plan.keys.ready.key for plan in found}) == 3 and len({plan.keys.warm.key for plan in found}) == 6
    assert [manifest_entries(plan)["boot"] for plan in found[::2]] == [1, 2, 3]
    options = [guest_options(plan.boot) for plan in found[::2]]
    assert [words[words.index("-seed") + 1] for words in options] == ["1", "2", "3"]
    assert len({tuple(word for word in words if word not in "123") for words in options}) == 1


def test_first_boot_is_that_of_a_run_without_the_option(lab: Lab) -> None:
    (one,) = planner("imapb", Options(seeds=[1], boots=[1]))(find_qemu())
    (other,) = planner("imapb", Options(seeds=[1]))(find_qemu())
    assert one.keys.warm.inputs == other.keys.warm.inputs


def test_designs_with_other_caches_share_their_boots(lab: Lab) -> None:
    (first,) = planner("imapb", Options(seeds=[1], boots=[4]))(find_qemu())
    (second,) = planner("imapb", Options(seeds=[1], boots=[4], protocol="mesi", settings={"l2.size": "2MiB"}))(
        find_qemu()
    )
    assert first.keys.ready.key == second.keys.ready.key and first.keys.warm.key != second.keys.warm.key


def test_list_of_runs_names_each_boot(lab: Lab) -> None:
    words = ("run", "imapb", "--scale", "tiny", "--seeds", "8", "--boots", "1,2", "--list", "--json")
    assert {job["job"] for job in json.loads(lab.answer(*words))["jobs"]} == {
        "imapb at tiny, seed 8",
        "imapb at tiny, boot 2, seed 8",
    }


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        (Options(), [(1, 1), (2, 1), (3, 1)]),
        (Options(seeds=[4, 5]), [(1, 4), (1, 5)]),
        (Options(boots=[2]), [(2, 1)]),
    ],
)
@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_default_experiment_without_seeds_takes_three_boots(
    lab: Lab, mix: str, options: Options, runs: list[tuple[int, int]]
) -> None:
    assert [(plan.boot_number, plan.seed) for plan in planner(mix, options)(find_qemu())] == runs


def test_boot_named_twice_in_an_experiment_is_refused() -> None:
    message = r"boots = \[1, 1\] names a boot twice: write each boot once"
    with pytest.raises(UserError, match=message):
        load_experiment("imapb", {"boots": [1, 1]})


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
