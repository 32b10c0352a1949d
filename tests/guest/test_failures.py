# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that fail: one clear sentence with the console's last lines, and exit code 2."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import PARTIAL
from s80lab.config.experiment import load_scale
from s80lab.config.machine import load_machine
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options, Plan, plan
from s80lab.guest.command import RAM_FILE, Boot, Session
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import find_qemu

pytestmark = [pytest.mark.guest, pytest.mark.changes_lab]

KERNEL = "console=ttyS0 panic=-1 quiet"
# One processor boots in a few seconds.
SMALL = {"processors.count": 1}


def wait_for_ready(folder: Path, kernel_args: str, limit_s: float) -> None:
    image = paths.BUILD / "image" / "debian"
    machine = load_machine("s80", {**SMALL, "guest.kernel_args": kernel_args})
    boot = Boot(machine, load_scale("tiny"), image / "vmlinuz", image / "initramfs.cpio")

    async def wait() -> None:
        with short_socket(Session(folder, folder / RAM_FILE, shared=True, socket=folder)) as session:
            async with Guest(find_qemu(), boot, session, "boot") as guest:
                await guest.event("ready", limit_s, lambda: None)

    asyncio.run(wait())


def tiny_plan() -> Plan:
    return plan("imapb", Options(scale="tiny"), find_qemu())


def restore_with(whole: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    """Hands the ready guest a job in which `before` is replaced by `after`, and waits for the load to begin."""
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(whole.checkpoints))
    tiny = tiny_plan()
    ready = checkpoint.find(tiny.keys.ready.name, tiny.keys.ready.key)
    assert ready is not None
    text = tiny.job()
    assert before in text
    (folder / "job").write_text(text.replace(before, after) + "measure_s=1\n")
    session = Session(folder, ready.ram, shared=False, socket=folder, job=folder / "job", incoming=True)

    async def wait() -> None:
        with short_socket(session) as short:
            async with Guest(tiny.qemu, tiny.boot, short, "restored guest") as guest:
                await guest.restore(ready.guest_state)
                await guest.event("load_begin", LIMIT_S, lambda: None)

    asyncio.run(wait())


def test_kernel_panic_is_reported_with_the_last_console_lines(lab: Lab) -> None:
    said = lab.call(
        *("checkpoint", "build", "imapb", "--stage", "ready", "--scale", "tiny"),
        *("--set", "processors.count=1", "--set", f"guest.kernel_args={KERNEL} rdinit=/nonexistent"),
        code=2,
    )
    assert "the guest's kernel panicked: Kernel panic - not syncing: VFS: Unable to mount root fs" in said
    assert "last lines of the console:\n  | " in said
    assert lab.partial() == []


def test_silent_guest_ends_at_the_time_limit(lab: Lab, tmp_path: Path) -> None:
    silent = f'{KERNEL} rdinit=/bin/busybox -- sh -c "while :; do :; done"'
    with pytest.raises(UserError, match=r"nothing happened for 5 s while waiting for the guest's `ready`"):
        wait_for_ready(tmp_path, silent, 5)


def test_guest_that_gives_up_is_reported_with_its_reason(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the guest gave up: unknown storage: tape"):
        wait_for_ready(tmp_path, f"{KERNEL} s80.storage=tape", LIMIT_S)


def test_server_that_does_not_answer_in_time_is_reported(
    whole: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"the load generator failed: .*"):
        restore_with(whole, tmp_path, monkeypatch, "reply_timeout_s=60", "reply_timeout_s=0.000001")


def test_job_that_the_guest_refuses_is_reported(whole: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"the load generator failed: job: .*driver"):
        restore_with(whole, tmp_path, monkeypatch, "driver=chain", "driver=train")


def test_qemu_that_refuses_its_command_line_is_reported(lab: Lab, tmp_path: Path) -> None:
    said = lab.call(
        *("checkpoint", "build", "imapb", "--stage", "ready", "--scale", "tiny", "--set", "guest.cpu=z80"),
        code=2,
    )
    assert "QEMU ended unexpectedly with code 1: " in said
    assert "z80" in said


def test_temporary_folder_with_too_long_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and that of a socket in it may have no more than 107 bytes."""
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    session = Session(tmp_path, tmp_path / RAM_FILE, shared=True, socket=tmp_path)
    with pytest.raises(UserError, match="is too long for a socket: set TMPDIR"), short_socket(session):
        pass
    assert list(folder.rglob(f"{PARTIAL}*")) == []
