# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles, their refusals, and the mix that a long run draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.config.machine import load_machine
from s80lab.config.workload import TRANSACTIONS, expected_mix, job_text, load_workload


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_profiles_have_the_papers_rows(mix: str) -> None:
    workload = load_workload(mix)
    assert workload.mix == mix
    assert sum(workload.table1()) == pytest.approx(100)
    sums = {name: sum(row) for name, row in workload.transitions.items() if sum(row) != pytest.approx(100)}
    assert sums == {"imapb": {"SELT": 101}, "imape": {"COPY": 98}}[mix]


def test_stationary_mix_of_the_chains() -> None:
    browsing, management = (expected_mix(load_workload(name)) for name in ("imapb", "imape"))
    for mix in (browsing, management):
        assert list(mix) == list(TRANSACTIONS)
        assert sum(mix.values()) == pytest.approx(1)
    assert browsing["SELT"] == pytest.approx(0.199, abs=0.001)
    assert browsing["SEND"] == pytest.approx(0.245, abs=0.001)
    assert management["MOVE"] == pytest.approx(0.256, abs=0.001)
    assert management["MDEL"] == pytest.approx(0.164, abs=0.001)


def test_independent_draws_are_table_1() -> None:
    workload = load_workload("imape").model_copy(update={"driver": "independent"})
    assert expected_mix(workload)["MDEL"] == pytest.approx(0.25)


def test_the_job_says_what_was_asked() -> None:
    lines = job_text("imape", clients=20, users=30, seed=7, think_ms=0, warmup_s=1.5).splitlines()
    for line in ("mix=imape", "clients=20", "users=30", "seed=7", "think_ms=0", "warmup_s=1.5", "move=copy"):
        assert line in lines
    assert "transition.MDEL=21 10 5.5 12 1 17.5 17 0 2 14" in lines
    assert not any(line.startswith(("measure_s", "tick_hz")) for line in lines)
    paced = job_text("imape", clients=1, users=1, seed=1, pace=load_machine("s80").pace()).splitlines()
    assert {"tick_hz=100", "time_ratio=6.5"} <= set(paced)
    assert "think_ms=850" in job_text("imapb", clients=1, users=1, seed=1).splitlines()


def changed(tmp_path: Path, old: str, new: str) -> Path:
    path = tmp_path / "mine.toml"
    text = (paths.PROFILES / "imapb.toml").read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("think_ms = 850", "think_ms = 850\nthinktime = 1", "unknown key `thinktime`"),
        ('driver = "chain"', 'driver = "table"', "driver"),
        ("incoming_per_s = 0.5", "incoming_per_s = -1", "incoming_per_s"),
        ("mailboxes_min = 4", "mailboxes_min = 40", "mailboxes_min = 40 is above"),
        ("MDEL = 6 ", "MDLE = 6 ", "mix_percent"),
        ("CRTE = [   1, ", "CRTE = [ ", "CRTE"),
    ],
)
def test_a_wrong_profile_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message) as refusal:
        load_workload(changed(tmp_path, old, new))
    assert "mine.toml" in str(refusal.value)


def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(UserError, match="imapb, imape"):
        load_workload("imapc")
