# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles, their refusals, and the mix that a long run draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find
from s80lab.config.workload import Imap, expected_mix, job_text, load_workload, login_job_text


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_profiles_have_the_papers_rows(mix: str) -> None:
    workload = load_workload(mix)
    assert isinstance(workload, Imap)
    assert workload.mix == mix
    assert sum(workload.table1()) == pytest.approx(100)
    sums = {name: sum(row) for name, row in workload.transitions.items() if sum(row) != pytest.approx(100)}
    assert sums == {"imapb": {"SELT": 101}, "imape": {"COPY": 98}}[mix]


def test_stationary_mix_of_the_chains() -> None:
    browsing, management = (expected_mix(load_workload(name)) for name in ("imapb", "imape"))
    for mix in (browsing, management):
        assert list(mix) == list(Imap.WHAT)
        assert sum(mix.values()) == pytest.approx(1)
    assert browsing["SELT"] == pytest.approx(0.199, abs=0.001)
    assert browsing["SEND"] == pytest.approx(0.245, abs=0.001)
    assert management["MOVE"] == pytest.approx(0.256, abs=0.001)
    assert management["MDEL"] == pytest.approx(0.164, abs=0.001)


def test_independent_draws_are_table_1() -> None:
    workload = load_workload("imape").model_copy(update={"driver": "independent"})
    assert expected_mix(workload)["MDEL"] == pytest.approx(0.25)


def test_job_contains_the_requested_values() -> None:
    lines = job_text("imape", clients=20, users=30, seed=7, think_ms=0, warmup_s=1.5).splitlines()
    for line in ("mix=imape", "clients=20", "users=30", "seed=7", "think_ms=0", "warmup_s=1.5", "move=copy"):
        assert line in lines
    assert "transition.MDEL=21 10 5.5 12 1 17.5 17 0 2 14" in lines
    assert not any(line.startswith(("measure_s", "clock_shift")) for line in lines)
    assert "clock_shift=1" in job_text("imape", clients=1, users=1, seed=1, clock_shift=1).splitlines()
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
        (
            'move = "copy"',
            'header_fetch = "some"',
            '`some` is not allowed: it must be "range", "each" or',
        ),
        ('move = "copy"', "header_fetch = 0", "key `header_fetch`: `0` is not allowed"),
        (
            'mix = "imapb"',
            'mix = "imapb"\nprotocol = "nntp"',
            "`nntp` is unknown: allowed are imap, jbb, pop3, probe, route, rtp, scripts, web",
        ),
        ('mix = "imapb"', 'mix = "imapb"\nprotocol = "web"', "unknown key `incoming_per_s`"),
    ],
)
def test_malformed_profile_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message) as refusal:
        load_workload(changed(tmp_path, old, new))
    assert "mine.toml" in str(refusal.value)


def test_profile_has_the_transactions_of_its_protocol() -> None:
    pop3, web = load_workload("pop3"), load_workload("web")
    assert pop3.transactions == ("CHCK", "RETR", "SEND")
    assert expected_mix(web) == pytest.approx({"FILE": 0.2, "PAGE": 0.8})
    lines = job_text(pop3, clients=2, users=3, seed=1).splitlines()
    assert {"protocol=pop3", "transactions=CHCK RETR SEND", "driver=independent"} <= set(lines)
    assert not any(line.startswith(("transition.", "move", "mailboxes")) for line in lines)
    assert login_job_text(web, 2, 3).splitlines()[:2] == ["hold=1", "protocol=web"]


def test_plain_web_profile_sets_tls_to_zero_in_all_jobs(tmp_path: Path) -> None:
    plain, web = load_workload("webstone"), load_workload("web")
    assert (plain.speaks, web.speaks) == (("web-plain",), ("web",))
    for text in (login_job_text(plain, 2, 3), job_text(plain, clients=2, users=3, seed=1)):
        assert "tls=0" in text.splitlines()
    assert "tls" not in login_job_text(web, 2, 3) + job_text(web, clients=2, users=3, seed=1)
    path = tmp_path / "mine.toml"
    path.write_text(find("workload", paths.PROFILES, "webstone").read_text().replace("PAGE = 0", "PAGE = 1"))
    with pytest.raises(UserError, match=r"mix_percent\.PAGE needs tls = true: servers without TLS"):
        load_workload(path)


def test_chain_without_transitions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('driver = "chain"\n' + (paths.PROFILES / "web.toml").read_text().replace("driver =", "# driver ="))
    with pytest.raises(UserError, match='driver = "chain" needs the table `transitions`'):
        load_workload(path)


def test_job_has_the_header_fetch_of_the_profile() -> None:
    each = load_workload("imapb").model_copy(update={"header_fetch": "each"})
    assert "header_fetch=each" in job_text(each, clients=1, users=1, seed=1).splitlines()
    assert "header_fetch=range" in job_text("imapb", clients=1, users=1, seed=1).splitlines()


@pytest.mark.parametrize("size", [15, 65537, "10KB"])
def test_messages_have_bounds(size: object) -> None:
    assert "message_bytes=64" in job_text(load_workload("route", {"message_bytes": 64}), clients=1, users=1, seed=1)
    with pytest.raises(UserError, match=r"profiles/route\.toml: key `message_bytes`"):
        load_workload("route", {"message_bytes": size})


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("working_set", "12KiB", "working_set = 12288 must be a power of two"),
        ("working_set", "2KiB", "at least 4096"),
        ("stride", 2, "at least 4"),
        ("batch", 1000, "batch = 1000 words must be a multiple of 8192, the words that COPY copies"),
    ],
)
def test_probes_have_whole_passes(key: str, value: object, said: str) -> None:
    with pytest.raises(UserError, match=rf"profiles/probe-copy\.toml: .*{said}"):
        load_workload("probe-copy", {key: value})


def test_unknown_profile_is_refused_with_the_known_names() -> None:
    with pytest.raises(UserError, match=r"allowed are .*imapb, imape"):
        load_workload("quake")


def test_job_contains_the_stream_settings() -> None:
    lines = job_text(load_workload("stream", {"media": "unique", "rate_kbps": 56}), clients=2, users=3, seed=1)
    assert {"protocol=rtp", "transactions=PLAY", "media=unique", "rate_kbps=56", "play_ms=500"} <= set(
        lines.splitlines()
    )
    ready = login_job_text(load_workload("stream"), 2, 3)
    assert "rate_kbps" not in ready and "media" not in ready, "one ready checkpoint serves all media"


@pytest.mark.parametrize(
    ("key", "value"), [("media", "one"), ("rate_kbps", 55), ("play_ms", 510), ("play_ms", 0), ("late_ms", 0)]
)
def test_streams_that_there_are_not_are_refused(key: str, value: object) -> None:
    with pytest.raises(UserError, match=f"stream.toml: key `{key}`"):
        load_workload("stream", {key: value})
