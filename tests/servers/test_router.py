# SPDX-License-Identifier: GPL-2.0-or-later
"""The router of the guest, without the guest's kernel: all that the clients send crosses it, in frames as of a wire."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.servers.rooted import serve
from tests.servers.test_images import image_of

from s80lab.config.server import load_server
from s80lab.config.workload import job_text, load_workload

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make network namespaces")

FRAME = 1448
"""Bytes of a message in a frame of 1500, behind the headers of IP and TCP with its timestamps."""


def test_router_forwards_all_frames(tmp_path: Path) -> None:
    server, workload = load_server("router"), load_workload("route-duplex", {"message_bytes": 65536})
    job = job_text(workload, clients=4, users=4, seed=1, think_ms=5, warmup_s=0, measure_s=1)
    served = serve(server, image_of(server), tmp_path, job)
    assert served.code == 0, served.said
    swapped = served.result()["transactions"]["SWAP"]
    frames = (swapped["bytes_in"] + swapped["bytes_out"]) / FRAME
    forwarded = re.search(r"^forwarded (\d+)$", served.said, re.MULTILINE)
    assert forwarded is not None, served.said
    assert swapped["count"] > 10
    # acknowledgements cross it, too: one at most for each frame
    assert frames <= int(forwarded[1]) <= 2.2 * frames + 100
