# SPDX-License-Identifier: GPL-2.0-or-later
"""`--boots`: each number is a guest of its own, and boot 1 is the boot of a run without the option."""

from __future__ import annotations

import json

import pytest
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_experiment
from s80lab.experiment.entries import manifest_entries
from s80lab.experiment.plan import Options, planner
from s80lab.guest.command import guest_options
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
