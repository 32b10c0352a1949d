# SPDX-License-Identifier: GPL-2.0-or-later
"""A server out of its guest's image, run on this machine: the image is a root folder, in namespaces of its own, with
the server's own script, configuration, programs and libraries. What is missing of the guest is the kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab import LIMIT_S

from s80lab.base import paths
from s80lab.config.server import SETTINGS, Server
from s80lab.image.cpio import read_archive

SCRIPT = Path(__file__).with_name("rooted.sh")
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
STORE = {"USERS": "12", "MAILBOXES": "5", "MAILBOX_KIB": "64", "DOCUMENT_BYTES": "0"}


@dataclass(frozen=True)
class Served:
    """What the load generator printed, and whatever else was said."""

    code: int
    events: list[dict[str, Any]]
    said: str

    def result(self) -> dict[str, Any]:
        found = [event for event in self.events if event["event"] == "result"]
        assert found, self.said
        return found[0]


def unpack(initramfs: Path, root: Path) -> None:
    """The image's files, and the devices that init would find."""
    for entry in read_archive(initramfs):
        path = root / entry.path
        kind = entry.mode & 0o170000
        if kind == 0o040000:
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(entry.mode & 0o7777)
        elif kind == 0o120000:
            path.symlink_to(entry.data.decode())
        elif kind == 0o100000:
            path.write_bytes(entry.data)
            path.chmod(entry.mode & 0o7777)
    for name, (major, minor) in DEVICES.items():
        os.mknod(root / "dev" / name, 0o020666, os.makedev(major, minor))
        (root / "dev" / name).chmod(0o666)
    for name in ("stdin", "stdout", "stderr"):
        (root / "dev" / name).symlink_to(f"/proc/self/fd/{('stdin', 'stdout', 'stderr').index(name)}")
    (root / "dev" / "fd").symlink_to("/proc/self/fd")


def serve(server: Server, image: Path, root: Path, job: str) -> Served:
    """Starts the server in the empty folder `root`, with 12 users, and does the job. image: its own, or that of a
    server with the same packages, over which its files are laid. Needs root."""
    unpack(image / "initramfs.cpio", root)
    for name, file in server.files().items():
        (root / name).write_bytes(file.content)
        (root / name).chmod(0o755 if file.executable else 0o644)
    (root / SETTINGS).write_text(server.settings())
    shutil.copy(SCRIPT, root / "rooted.sh")
    shutil.copy(paths.BIN / "s80-loadgen", root / "usr" / "bin")
    (root / "job").write_text(job)
    spaces = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child"]
    command = ["unshare", *spaces, f"--root={root}", "/bin/busybox", "sh", "/rooted.sh"]
    done = subprocess.run(command, env=STORE, capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return Served(done.returncode, events, done.stderr)
