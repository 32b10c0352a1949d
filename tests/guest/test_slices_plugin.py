# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin that bounds QEMU's time slices and does nothing else (libs80slices.so), in a QEMU without a machine."""

from __future__ import annotations

import subprocess

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.guest.qemu import find_qemu


@pytest.mark.parametrize(
    "arguments", ["instructions=0", "instructions=many", "instructions=5k", "machine=m", "accesses=empty", ""]
)
def test_wrong_arguments_are_refused(arguments: str, lab: Lab) -> None:
    qemu = find_qemu()
    plugin = ",".join(filter(None, (str(paths.SLICES_PLUGIN), arguments)))
    command = [*qemu.command(), "-machine", "none", "-accel", "tcg", "-display", "none", "-plugin", plugin]
    done = subprocess.run(command, env=qemu.environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "s80lab-slices: this plugin needs the argument instructions=N, with N of at least 1, and" in done.stderr
