# SPDX-License-Identifier: GPL-2.0-or-later
"""Another server than the usual one in the real guest: it boots, logs the clients in, and serves them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest.checked_guest import run_checked
from tests.servers.test_images import NO_ERRORS, image_of

from s80lab.base import paths
from s80lab.config.server import load_server
from s80lab.config.workload import job_text, load_workload

pytestmark = pytest.mark.guest


def test_uw_serves_the_mix_in_the_guest(tmp_path: Path) -> None:
    server = load_server("uw")
    if not all((paths.BIN / program).is_file() for program in server.programs):
        pytest.skip(f"its programs are not built: they need {server.parts['uw'].needs}")
    image_of(server)
    job = job_text(load_workload("imape"), clients=8, users=32, seed=1, think_ms=20, warmup_s=0, measure_s=1)
    # Four processors boot in a third of the time.
    guest = run_checked(tmp_path, "facts", job, server="uw", settings={"processors.count": 4})
    assert (guest.result["errors"], guest.result["first_error"]) == (NO_ERRORS, "")
    assert guest.result["totals"]["count"] > 8
    queue = guest.result["mail_queue"]
    assert (queue["put_off"], queue["refused"]) == (0, 0)
    assert queue["looks"] > 2
