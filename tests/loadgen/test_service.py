# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/loadgen/service.py: what a server started is gone when the server has ended."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import pytest
from tests.loadgen.service import Service, free_port

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="PID namespaces are root's")

# As OpenSMTPD starts a delivery: in a session of its own.
HOLDS = 'setsid flock "$0" sleep 3600 & exec "$1" -m http.server --bind 127.0.0.1 --directory / "$2"'


def held(file: Path) -> bool:
    with file.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_service_end_stops_all_processes_that_the_service_started(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "lock"
    service = Service(["sh", "-c", HOLDS, str(file), sys.executable, str(port)], port, tmp_path / "log")
    while not held(file):
        assert service.process.poll() is None
    service.end()
    assert not held(file)
    service.end()


def test_service_that_does_not_start_is_reported_with_its_port(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"no server on port 1$"):
        Service(["false"], 1, tmp_path / "log")
