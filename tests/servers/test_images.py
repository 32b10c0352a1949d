# SPDX-License-Identifier: GPL-2.0-or-later
"""Every server of workloads/servers, out of its guest's image, under the load generator: each type of transaction, no
error. Here without the guest's kernel (rooted.py); one of them boots (test_guest.py)."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.rooted import serve

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.config.server import Server, ServerFile, load_server, server_names
from s80lab.config.workload import expected_mix, job_text, load_workload
from s80lab.image.build import build_image, image_folder

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a process a root folder of its own")

WORKLOADS = {"imap": "imape", "pop3": "pop3", "web": "web", "web-plain": "webstone", "route": "route", "rtp": "stream"}
WITHOUT_MAIL = ("web", "web-plain", "route", "rtp")
# The warehouse application's image is ten times as large; tests/loadgen/test_jbb.py has it on the host's own Java.
SERVED = [(name, protocol) for name in server_names() for protocol in load_server(name).serves if protocol in WORKLOADS]
# Whose mail is delivered by something else than Dovecot's LMTP.
OTHERS = ("courier", "cyrus", "dovecot-one", "uw")
NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}


@pytest.fixture
def root() -> Iterator[Path]:
    """Not under pytest's own folder, which is closed to the servers' users."""
    with tempfile.TemporaryDirectory(prefix="s80-root-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def image_of(server: Server) -> Path:
    """Its own image, or that of the server that it has its packages and programs from. Skips where one is not built."""
    for program, needs in server.programs.items():
        if not (paths.BIN / program).is_file():
            pytest.skip(f"{program} is not built: it needs {needs}")
    parts = reversed(tuple(server.parts.items()))
    last = next(name for name, part in parts if part.packages or part.keep or part.programs)
    base = last if last in server_names() else server.name
    try:
        build_image(image_folder("debian", base), load_server(base), progress=print)
    except UserError as lacking:
        # A mirror need not have every source.
        if "source package" not in str(lacking):
            raise
        pytest.skip(str(lacking))
    return image_folder("debian", base)


@pytest.mark.parametrize(("name", "protocol"), SERVED)
def test_server_executes_transactions_of_all_types_without_error(name: str, protocol: str, root: Path) -> None:
    server = load_server(name)
    workload = load_workload(WORKLOADS[protocol])
    shares = expected_mix(workload)
    equally = {name: 10.0 if protocol == "route" or share else 0.0 for name, share in shares.items()}
    mail = {} if protocol in WITHOUT_MAIL else {"incoming_per_s": 20.0 if protocol == "pop3" else 2.0}
    # Of this machine's own clock, which is not the load's alone.
    patient = {"late_ms": 10_000} if protocol == "rtp" else {}
    workload = workload.model_copy(update={"driver": "independent", "mix_percent": equally, **mail, **patient})
    job = job_text(workload, clients=12, users=12, seed=1, think_ms=10, warmup_s=0.5, measure_s=2)
    served = serve(server, image_of(server), root, job)
    result = served.result()
    assert (result["errors"], result["first_error"], served.code) == (NO_ERRORS, "", 0), served.said
    assert {name for name, one in result["transactions"].items() if one["count"]} == set(filter(equally.get, equally))
    assert (result["incoming"]["messages"] > 0) == bool(mail)
    assert ("mail_queue" in result) == bool(mail)
    if mail:
        queue = result["mail_queue"]
        assert queue["accepted"] > 0
        assert (queue["put_off"], queue["refused"]) == (0, 0), served.said


def test_server_that_refuses_its_settings_is_reported_with_its_last_message(root: Path, tmp_path: Path) -> None:
    """Settings of Dovecot 2.4, for Dovecot 2.3."""
    server = load_server("dovecot")
    settings = {"etc/dovecot/variant.conf": "dovecot_config_version = 2.4.1\nmail_driver = mbox\n"}
    part = ServerFile(description="with new settings", files=settings)
    new = Server({**server.parts, "dovecot-new": part}, [*server.origins, tmp_path / "dovecot-new.toml"])
    served = serve(new, image_of(server), root, "")
    assert served.code == 1
    assert re.search(
        r"^FAILED Dovecot ended: doveconf: Fatal: .*Unknown setting: dovecot_config_version", served.said, re.M
    )


@pytest.mark.parametrize("name", ("dovecot", *OTHERS))
def test_message_is_delivered_on_arrival(name: str, root: Path) -> None:
    """One client sends ten a second. A transport that polled for them once a second would have five of them waiting."""
    server = load_server(name)
    workload = load_workload("imapb")
    sends = {name: 100.0 if name == "SEND" else 0.0 for name in expected_mix(workload)}
    workload = workload.model_copy(update={"driver": "independent", "mix_percent": sends})
    job = job_text(workload, clients=1, users=12, seed=1, think_ms=100, warmup_s=1, measure_s=3)
    served = serve(server, image_of(server), root, job)
    result = served.result()
    assert (result["errors"], served.code) == (NO_ERRORS, 0), served.said
    queue = result["mail_queue"]
    assert queue["accepted_in_region"] > 5
    assert (queue["put_off"], queue["refused"]) == (0, 0)
    assert queue["mean"] < 2


@pytest.mark.parametrize(
    ("name", "mix", "speed_up"), [("dovecot-one", "zvm", 2000), ("dovecot-plain", "clientscaler", 1)]
)
def test_message_to_several_recipients_reaches_all_recipients(name: str, mix: str, speed_up: float, root: Path) -> None:
    """At once: what the server puts off comes seconds later, and these are a load's."""
    server = load_server(name)
    workload = load_workload(mix).model_copy(update={"speed_up": speed_up})
    job = job_text(workload, clients=12, users=12, seed=1, warmup_s=0.5, measure_s=3)
    served = serve(server, image_of(server), root, job)
    result = served.result()
    assert (result["errors"], result["first_error"], served.code) == (NO_ERRORS, "", 0), served.said
    queue = result["mail_queue"]
    assert (queue["put_off"], queue["refused"]) == (0, 0), served.said
    assert queue["end"] == queue["accepted"] - queue["delivered"]
    assert 0 <= queue["mean"] <= queue["accepted"]
    # The log goes on when the load generator has said its last.
    accepted = sum(int(count) for count in re.findall(r" smtp message .* nrcpt=(\d+)", served.said))
    outcomes = re.findall(r' m[dt]a delivery evpid=.* result="?(\w+)', served.said)
    assert set(outcomes) == {"Ok"}
    assert 20 < queue["delivered"] <= len(outcomes) <= accepted
    assert queue["delivered"] <= queue["accepted"] <= accepted
