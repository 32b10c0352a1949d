# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks Debian's QEMU into a private folder. It runs no maintainer script and changes nothing in the system.

Debian 12 has QEMU 7.2, so the backports suite is read too, from the mirror that the machine's own apt uses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.programs import system_environment
from s80lab.base.staging import working
from s80lab.base.strict import short_path
from s80lab.base.terminal import say
from s80lab.image.packages import KEYRING, debian_mirror, package_versions

PACKAGES = ("qemu-system-x86", "qemu-system-data", "seabios", "ipxe-qemu")
FETCHED_MB, UNPACKED_MB = 36, 160
# Suites whose own QEMU is too old for -icount with many vCPUs.
NEEDS_BACKPORTS = ("bullseye", "bookworm")
LIMIT_S = 900
STAMP = "s80lab.json"
"""Name of the file in an unpacked QEMU that holds the suite and the versions of all unpacked packages."""


def check_unpack() -> str:
    """The Debian suite from which `unpack` takes QEMU. UserError if this host cannot unpack QEMU."""
    if shutil.which("mmdebstrap") is None:
        raise UserError("the program mmdebstrap, which unpacks QEMU, is not installed: apt-get install mmdebstrap")
    return _suite(debian_codename())


def unpacked(store: Path) -> list[Path]:
    """The folders of complete QEMUs for this host's Debian release in the store, the newest first."""
    try:
        suite = _suite(debian_codename())
    except UserError:
        return []
    stamps = [stamp for stamp in store.glob(f"{suite}-*/{STAMP}") if _suite_of(stamp) == suite]
    return [stamp.parent for stamp in sorted(stamps, key=lambda stamp: stamp.stat().st_mtime_ns, reverse=True)]


def unpack(store: Path) -> Path:
    """Unpack QEMU and all its libraries into the store; return the new folder, SUITE-VERSION.

    UserError gives the reason of a failure. The caller holds the store's lock.
    """
    suite = check_unpack()
    codename = debian_codename()
    suites = list(dict.fromkeys((codename, suite)))
    options = [f'--aptopt=APT::Default-Release "{suite}"'] if suite != codename else []
    sources = [f"deb [signed-by={KEYRING}] {debian_mirror()} {name} main" for name in suites]
    say(f"QEMU: unpacking {', '.join(PACKAGES)} from {suite} into {short_path(store)}")
    with working(store) as scratch:
        root, listing = scratch / "root", scratch / "packages"
        mode = "--mode=root" if os.geteuid() == 0 else "--mode=chrootless"
        hook = f'--extract-hook=ls "$1"/var/cache/apt/archives > "{listing}"'
        command = ["mmdebstrap", mode, "--variant=extract", f"--include={','.join(PACKAGES)}", hook, *options]
        try:
            done = subprocess.run(
                [*command, codename, str(root), *sources],
                env=system_environment(),
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
        versions = package_versions(listing.read_text().split())
        (root / STAMP).write_text(json.dumps({"suite": suite, "packages": versions}, indent=1) + "\n")
        # Without the epoch: a colon separates the folders of LD_LIBRARY_PATH.
        final = store / f"{suite}-{versions[PACKAGES[0]].split(':')[-1]}"
        shutil.rmtree(final, ignore_errors=True)
        root.rename(final)
    return final


def _suite(codename: str) -> str:
    return f"{codename}-backports" if codename in NEEDS_BACKPORTS else codename


def _suite_of(stamp: Path) -> str:
    """The suite in a stamp; empty if the stamp is unreadable."""
    try:
        content = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(content.get("suite", "")) if isinstance(content, dict) else ""


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
