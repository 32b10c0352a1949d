# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks Debian's QEMU into a private folder. It runs no maintainer script and changes nothing in the system.

Debian 12 has QEMU 7.2, so the backports suite is read too, from the mirror that the machine's own apt uses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.strict import shown
from s80lab.image.packages import KEYRING, debian_mirror

PACKAGES = ("qemu-system-x86", "qemu-system-data", "seabios", "ipxe-qemu")
# Suites whose own QEMU is too old for -icount with many vCPUs.
NEEDS_BACKPORTS = ("bullseye", "bookworm")
LIMIT_S = 900


def unpack(prefix: Path) -> None:
    """Unpack QEMU and all its libraries below `prefix` (about 160 MB, a few seconds). UserError gives the reason of a
    failure."""
    if shutil.which("mmdebstrap") is None:
        raise UserError("the program mmdebstrap, which unpacks QEMU, is not installed: apt-get install mmdebstrap")
    codename = debian_codename()
    suites = [codename]
    options: list[str] = []
    if codename in NEEDS_BACKPORTS:
        suites.append(f"{codename}-backports")
        options = [f'--aptopt=APT::Default-Release "{suites[-1]}"']
    sources = [f"deb [signed-by={KEYRING}] {debian_mirror()} {suite} main" for suite in suites]
    print(f"QEMU: unpacking {', '.join(PACKAGES)} from {suites[-1]} into {shown(prefix)}", file=sys.stderr)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".qemu-", dir=prefix.parent) as scratch:
        root = Path(scratch) / "root"
        mode = "--mode=root" if os.geteuid() == 0 else "--mode=chrootless"
        command = ["mmdebstrap", mode, "--variant=extract", f"--include={','.join(PACKAGES)}", *options]
        try:
            done = subprocess.run(
                [*command, codename, str(root), *sources],
                env=os.environ | {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"},
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise UserError(
                f"mmdebstrap, which unpacks QEMU, did not end within {LIMIT_S} s: check the connection to the "
                "package mirror, then repeat the command"
            ) from None
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or ["no reason given"]
            raise UserError(f"mmdebstrap could not unpack QEMU from {' and '.join(suites)} ({lines[-1]})")
        shutil.rmtree(prefix, ignore_errors=True)
        root.rename(prefix)


def debian_codename(os_release: Path = Path("/etc/os-release")) -> str:
    """`bookworm`, `trixie`, ... UserError: the machine does not run Debian."""
    content = os_release.read_text() if os_release.is_file() else ""
    fields = dict(line.split("=", 1) for line in content.splitlines() if "=" in line)
    if fields.get("ID") != "debian" or "VERSION_CODENAME" not in fields:
        raise UserError(
            "this host does not run Debian, so s80lab cannot unpack Debian's QEMU: install qemu-system-x86 or "
            "set S80LAB_QEMU"
        )
    return fields["VERSION_CODENAME"].strip('"')
