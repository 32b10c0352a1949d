# SPDX-License-Identifier: GPL-2.0-or-later
"""The IMAP client against replies in all forms that the standards allow, and against replies that break them."""

from __future__ import annotations

import random
import ssl
from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.imap_server import FORMS, imap_server
from tests.loadgen.mail_system import make_certificate
from tests.loadgen.test_scripts import NO_ERRORS, counts, following, good

from s80lab.config.workload import expected_mix, job_text, load_workload

STEPS: list[Any] = [
    *("connect", "capability", "login", "namespace", "list %", "status INBOX", "status inbox", "select INBOX"),
    *("flags all", "flags last", "headers 3", "body", "body", "headers all", "store Seen", "store \\Deleted"),
    *("search subject budget", "search unseen undeleted", "expunge", "append INBOX 6000", "append Sent 601"),
    *("copy Sent", "move Drafts", "noop", "idle", "wait constant 1", "done", "select Sent", "body", "logout"),
]


def certificate(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_certificate(folder))
    return context


def scripted(form: str, folder: Path, steps: list[Any], **changes: Any) -> Outcome:
    """One client that follows the steps for a second, without TLS."""
    workload = following({"protocol": "imap", "steps": steps}).model_copy(update={"tls": False, **changes})
    (folder / "job").write_text(job_text(workload, clients=1, users=1, seed=1, warmup_s=0, measure_s=1))
    with imap_server(form) as server:
        outcome = collect(launch(folder / "job", "--imap", server.address))
    assert server.errors == []
    return outcome


@pytest.mark.parametrize("form", FORMS)
def test_imap_steps_accept_replies_in_all_standard_forms(form: str, tmp_path: Path) -> None:
    seen = counts(good(scripted(form, tmp_path, STEPS)))
    assert ("imap login" in seen) == (form != "preauth")
    for name in ("status", "search", "move", "idle", "done", "append 5321", "append 1062", "headers all", "logout"):
        assert seen[f"imap {name}"] > 0


def without_sending(workload: str) -> dict[str, float]:
    """A mix of all transactions but SEND, which needs an SMTP server."""
    return {name: 0.0 if name == "SEND" else 10.0 for name in expected_mix(load_workload(workload))}


@pytest.mark.parametrize("form", FORMS)
def test_imap_transactions_accept_replies_in_all_standard_forms(form: str, tmp_path: Path) -> None:
    equally = without_sending("imape")
    changes = {"driver": "independent", "mix_percent": equally, "incoming_per_s": 0.0}
    workload = load_workload("imape").model_copy(update=changes)
    job = job_text(workload, clients=2, users=2, seed=1, think_ms=1, warmup_s=0, measure_s=2)
    (tmp_path / "job").write_text(job)
    with imap_server(form, certificate(tmp_path)) as server:
        outcome = collect(launch(tmp_path / "job", "--imap", server.address))
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code, server.errors) == (NO_ERRORS, "", 0, [])
    assert result["lost_flags"] == 0
    assert {name for name, one in result["transactions"].items() if one["count"]} == set(equally) - {"SEND"}


@pytest.mark.parametrize(
    ("last_words", "message"),
    [
        (b"* BYE Server shutting down.\r\n", "the server ended the session: Server shutting down."),
        (b"* NO [ALERT] Disk full\r\n", "its last words: NO [ALERT] Disk full"),
        (b"* OK fine\r\nPanic: file \x1b[0m", "its last words: Panic: file ?[0m"),
        (b"", "connection to"),
    ],
)
def test_ended_server_is_noticed_while_clients_think(last_words: bytes, message: str, tmp_path: Path) -> None:
    """The clients would think for an hour."""
    changes = {"driver": "independent", "mix_percent": without_sending("imapb"), "incoming_per_s": 0.0}
    workload = load_workload("imapb").model_copy(update={"think": "constant", **changes})
    job = job_text(workload, clients=2, users=2, seed=1, think_ms=3_600_000, warmup_s=0, measure_s=7200)
    (tmp_path / "job").write_text(job)
    with imap_server("plain", certificate(tmp_path)) as server:
        process = launch(tmp_path / "job", "--imap", server.address)
        outcome = collect(process, begun=lambda: server.end(last_words))
    assert outcome.code == 1
    assert message in outcome.one("error")["message"]
    assert outcome.one("result")["errors"]["connection"] >= 1
    assert outcome.stderr.isprintable() or outcome.stderr.strip().isprintable()


def mutated(text: bytes, rng: random.Random, rate: float) -> bytes:
    """A few bytes of this fraction of the replies changed, removed, repeated or replaced by pieces of the protocol."""
    if rng.random() > rate:
        return text
    pieces = [
        b"{",
        b"}",
        b"(",
        b")",
        b'"',
        b"\\",
        b"\r\n",
        b"\n",
        b" ",
        b"* ",
        b"+ ",
        b"NIL",
        b"[",
        b"]",
        b"\0",
        b"\xff",
    ]
    pieces += [b"{5}\r\n", b"~{99999999}", b"4294967296", b"* BYE", b"a1 OK", b"* 1 EXPUNGE\r\n", b"x" * 5000]
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([0, 0, 1, 1, 2, 30]))
        text = (
            text[:at]
            + rng.choice([b"", bytes((rng.randrange(256),)), rng.choice(pieces), text[at:end] * 3])
            + text[end:]
        )
    return text


def attack(seed: int, folder: Path) -> Outcome:
    """A client that follows all steps, against a server whose replies are changed."""
    rng = random.Random(seed)
    form = rng.choice([form for form in FORMS if form not in ("bytes", "long")])
    rate = rng.choice([0.005, 0.05, 0.5])
    workload = following({"protocol": "imap", "steps": STEPS}).model_copy(update={"tls": False, "reply_timeout_s": 1.0})
    (folder / "job").write_text(job_text(workload, clients=1, users=1, seed=seed, warmup_s=0, measure_s=0.3))
    with imap_server(form, change=lambda text: mutated(text, rng, rate)) as server:
        return collect(launch(folder / "job", "--imap", server.address))


def check_attacked(outcome: Outcome) -> None:
    """Whatever a server sends: an end by itself, and an exit code that agrees with the errors counted."""
    assert outcome.code in (0, 1), outcome.stderr
    errors = sum(event["errors"][kind] for event in outcome.all("result") for kind in NO_ERRORS)
    assert (outcome.code == 0) == (errors == 0 and not outcome.all("error"))
    assert outcome.stderr.isprintable() or outcome.stderr.count("\n") == 1
    assert len(outcome.all("result")) == 1 or outcome.all("error")


@pytest.mark.parametrize("seed", range(12))
def test_replies_that_break_the_protocol_do_no_harm(seed: int, tmp_path: Path) -> None:
    check_attacked(attack(seed, tmp_path))
