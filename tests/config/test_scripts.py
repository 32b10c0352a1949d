# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of scripts: what is refused, and the lines that the load generator gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.config.script import apportioned
from s80lab.config.workload import expected_mix, job_text, load_workload, login_job_text

PROFILE = """\
protocol = "scripts"
mix = "mine"
description = "of a test"
speed_up = 100

[metric]
throughput = "a"
latency = "b"
phases = "c"

[sizes]
1062 = 45
139602 = 2.5

[[script]]
name = "READ"
what = "Read"
protocol = "imap"
percent = 75
think = "uniform 100000 500000"
ramp_s = 10
start = ["connect", "login", "select INBOX"]
steps = [
    "noop",
    { repeat = 6, steps = ["wait exponential 50", "headers 5", { repeat = 5, steps = ["body"] }, "store Deleted"] },
    { percent = 2.5, steps = ["append Drafts 2050"] },
    "send 3",
]

[[script]]
name = "FETCH"
what = "Fetch"
protocol = "pop3"
percent = 25
rate_per_s = 0.5
steps = ["connect", "login", { when = "offline", steps = ["stat"] }, "quit"]
"""


def profile(folder: Path, old: str = "", new: str = "") -> Path:
    path = folder / "mine.toml"
    assert old in PROFILE
    path.write_text(PROFILE.replace(old, new, 1))
    return path


def test_job_contains_the_scripts_line_by_line(tmp_path: Path) -> None:
    workload = load_workload(profile(tmp_path))
    lines = job_text(workload, clients=9, users=12, seed=4).splitlines()
    assert lines == [
        *("protocol=scripts", "mix=mine", "clients=9", "users=12", "seed=4", "sizes=1062:45 139602:2.5"),
        *("script=READ imap 7", "think=uniform 1000 5000", "ramp_s=0.1"),
        *("start=connect", "start=login", "start=select INBOX", "step=noop"),
        *("step=repeat 6", "step=wait exponential 0.5", "step=headers 5", "step=repeat 5", "step=body", "step=end"),
        *("step=store Deleted", "step=end", "step=percent 2.5", "step=append Drafts 2050", "step=end", "step=send 3"),
        *("script=FETCH pop3 2", "rate_per_s=50", "ramp_s=0", "step=connect", "step=login"),
        *("step=offline", "step=stat", "step=end", "step=quit", "reply_timeout_s=60"),
    ]
    login = login_job_text(workload, 9, 12).splitlines()
    assert login == ["hold=1", "protocol=scripts", "clients=9", "users=12", *lines[5:-1]]
    plain = load_workload(profile(tmp_path, "speed_up", 'tls = false\nrecipients = "clients"\nspeed_up'))
    own = ["tls=0", "recipients=clients", "sizes=1062:45 139602:2.5"]
    assert login_job_text(plain, 9, 12).splitlines()[4:7] == own
    assert plain.speaks == ("imap-plain", "pop3-plain")
    assert workload.transactions == ("READ", "FETCH")
    assert workload.speaks == ("imap", "pop3")
    assert expected_mix(workload) == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"noop"', '"nooop"', r"`nooop` is not a step of imap: did you mean noop\?"),
        ('"noop"', '"noop 3"', "write `noop` alone"),
        ('"noop"', '"retr"', "`retr` is not a step of imap"),
        ('"headers 5"', '"headers some"', "write `headers` all, last or a number of messages"),
        ('"noop"', '"status"', "write `status` and a mailbox"),
        ('"noop"', '"search {5}"', "write `search` and a search key such as UNSEEN"),
        ('"noop"', '"search subject two words"', "write `search` and a search key such as UNSEEN"),
        ('"noop"', '"store #x"', "write `store` and a flag such as Seen"),
        ('"noop"', '"idle", "wait constant 1", "noop"', "`noop` after `idle`: write `done` before it"),
        ('"noop"', '"idle", { repeat = 2, steps = ["done"] }', "`repeat 2` after `idle`: write `done` before it"),
        ('"noop"', '"done"', "`done` without `idle`"),
        ('"send 3",\n]', '"idle",\n]', "`the end of the steps` after `idle`"),
        ('"send 3"', '"send"', "and the number of recipients"),
        ('"send 3"', '"send 3 200"', "a message has 512 to 143360 bytes"),
        ('"send 3"', '"send 9999999999"', "and the number of recipients"),
        ('"headers 5"', '"headers 1\u0665"', "write `headers` all, last or a number of messages"),
        ("repeat = 6", "repeat = 9999999999", "`repeat = 9999999999` is not allowed"),
        ('"wait exponential 50"', '"wait constant 9999999999999999"', "`constant 9999999999999999` is not a time"),
        (
            "rate_per_s = 0.5",
            "rate_per_s = inf",
            "script.1.rate_per_s.*: `Infinity` is not allowed; write a finite number",
        ),
        ("ramp_s = 10", "ramp_s = inf", "script.0.ramp_s.*: `Infinity` is not allowed; write a finite number"),
        ("speed_up = 100", "speed_up = inf", "speed_up.*: `Infinity` is not allowed; write a finite number"),
        ('"select INBOX"', '"select my box"', "write `select` and a mailbox"),
        ('"wait exponential 50"', '"wait long"', "`long` is not a time: write constant MS"),
        ('"uniform 100000 500000"', '"uniform 5 1"', "MOST must not be less than LEAST"),
        ('start = ["connect"', 'start = ["wait constant 1"', "the login cannot wait"),
        ("repeat = 6", "repeat = 0", "`repeat = 0` is not allowed"),
        ("percent = 2.5, steps", "percent = 101, steps", "`percent = 101` is not allowed"),
        ('when = "offline"', 'when = "online"', "`when = online` is not allowed"),
        ("repeat = 6, steps", "steps", "is not a step: write a command, or a table"),
        ('think = "uniform 100000 500000"', "", "READ needs exactly one of rate_per_s and think"),
        (
            "rate_per_s = 0.5",
            'rate_per_s = 0.5\nthink = "constant 1"',
            "FETCH needs exactly one of rate_per_s and think",
        ),
        ("percent = 25", "percent = 30", "must sum to 100"),
        ('name = "FETCH"', 'name = "READ"', "must have different names"),
        ("1062 = 45\n139602 = 2.5", "", r"the table \[sizes\] is missing"),
        ("1062 = 45", "100 = 45", "sizes.100"),
        (
            '["connect", "login", {',
            '[{ percent = 5, steps = ["connect"] }, {',
            "outside the blocks `percent` and `when`",
        ),
        ("speed_up = 100", "think_ms = 100", "unknown key `think_ms`"),
    ],
)
def test_malformed_script_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = profile(tmp_path, old, new)
    if "outside" in message:
        path.write_text(path.read_text().replace(', "quit"]', "]"))
    with pytest.raises(UserError, match=message) as refusal:
        load_workload(path)
    assert "mine.toml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_steps_of_imap_clients_are_allowed(tmp_path: Path) -> None:
    steps = ["status INBOX", "search unseen", "search subject budget", "move Sent", "idle", "wait constant 5", "done"]
    steps += ["store \\Seen", "store deleted", "store $Forwarded"]
    toml = ", ".join(f"'{step}'" for step in steps)
    text = job_text(load_workload(profile(tmp_path, '"noop"', toml)), clients=9, users=12, seed=4)
    faster = [f"step={step}".replace("constant 5", "constant 0.05") for step in steps]
    assert "\n".join(faster) in text


def test_unsuitable_options_for_scripts_are_refused(tmp_path: Path) -> None:
    path = profile(tmp_path)
    with pytest.raises(UserError, match="the scripts of this workload contain the waiting times"):
        job_text(load_workload(path), clients=9, users=12, seed=1, think_ms=5)
    for text in (login_job_text(load_workload("imapb"), 13, 12), login_job_text(load_workload(path), 12, 12)):
        assert "users=12\n" in text
    for of_pop3 in (load_workload(path), load_workload("pop3"), load_workload("clientscaler")):
        with pytest.raises(UserError, match="13 clients are too many for 12 users, because a POP3 mailbox"):
            login_job_text(of_pop3, 13, 12)
    with pytest.raises(UserError, match="1 clients are too few for 2 scripts"):
        job_text(load_workload(path), clients=1, users=12, seed=1)


def test_clients_are_shared_out_whole() -> None:
    assert apportioned(10, [50, 30, 20]) == [5, 3, 2]
    assert apportioned(7, [50, 30, 20]) == [4, 2, 1]
    assert apportioned(3, [98, 1, 1]) == [1, 1, 1]
    assert apportioned(100, [99.8, 0.1, 0.1]) == [98, 1, 1]


def test_clientscaler_profile_has_the_numbers_of_the_study() -> None:
    lines = job_text("clientscaler", clients=20, users=32, seed=1).splitlines()
    assert "sizes=1062:45 2050:38 5321:10 34762:5 139602:2" in lines
    assert [line for line in lines if line.startswith("rate_per_s")] == [
        *("rate_per_s=10.65", "rate_per_s=190.96", "rate_per_s=16.23"),
    ]
