# SPDX-License-Identifier: GPL-2.0-or-later
"""s80-uw-imapd on the host: alone with one user's mail, and with an OpenSMTPD for the load generator."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loadgen.mail_system import SMTPD
from tests.servers.uw.uw_server import IMAPD, UwServer


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    if not IMAPD.is_file():
        pytest.skip(f"{IMAPD} is not built: it needs the package libc-client2007e-dev")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[UwServer]:
    """The IMAP server alone, as whoever runs the tests."""
    running = UwServer(tmp_path)
    running.build_store()
    try:
        running.start_imap()
        yield running
    finally:
        running.stop()


@pytest.fixture
def mail_system() -> Iterator[UwServer]:
    """With SMTP; sessions and deliveries run as the mail's owner."""
    if SMTPD is None:
        pytest.skip("needs the package opensmtpd")
    if os.geteuid() != 0:
        pytest.skip("OpenSMTPD starts only as root")
    # Not under pytest's own folder, which is closed to the mail's owner.
    with tempfile.TemporaryDirectory(prefix="s80-uw-") as name:
        running = UwServer(Path(name))
        running.build_store()
        try:
            running.start_smtp()
            running.start_imap("--uid", "65534")
            yield running
        finally:
            running.stop()
