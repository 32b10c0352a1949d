# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks Debian packages into a private folder, as root or as an ordinary user. No maintainer script runs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from s80lab.base.errors import UserError
from s80lab.base.programs import system_environment

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def debian_mirror() -> str:
    """The URI from which this machine's own apt sources take Debian's main archive."""
    query = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    try:
        targets = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(
            f"apt-get cannot list the package archives of this host ({error}): to build an image from Debian "
            "packages, use a Debian host with working apt sources"
        ) from error
    for line in targets.splitlines():
        uri, release, component = line.split()
        if component == "main" and re.fullmatch(r"[a-z]+", release) and "debian" in uri:
            return uri.rstrip("/")
    raise UserError(
        "the apt sources of this host contain no Debian archive (component main): add one and run apt-get update"
    )


@dataclass(frozen=True)
class Packages:
    """Unpacked packages: `root` holds their files, `versions` maps package names to versions."""

    root: Path
    versions: dict[str, str]


def unpack(names: Sequence[str], suite: str, root: Path) -> Packages:
    """Unpack `names` and all their dependencies from `suite` of this machine's mirror into the new folder `root`."""
    listing = root.with_name(root.name + ".packages")
    # chrootless: nothing is run in the folder, so no user namespaces are needed and the files belong to the caller
    command = [
        "mmdebstrap",
        "--mode=root" if os.geteuid() == 0 else "--mode=chrootless",
        "--variant=extract",
        "--include=" + ",".join(names),
        f'--extract-hook=ls "$1"/var/cache/apt/archives > "{listing}"',
        suite,
        str(root),
        f"deb [signed-by={KEYRING}] {debian_mirror()} {suite} main",
    ]
    # sbin is not on every user's PATH, and tar and dpkg are looked for there too
    try:
        result = subprocess.run(command, capture_output=True, text=True, env=system_environment(), check=False)
    except FileNotFoundError as error:
        raise UserError("mmdebstrap is not installed: apt-get install mmdebstrap") from error
    if result.returncode != 0:
        reasons = [line for line in result.stderr.splitlines() if line.startswith(("E:", "Err:"))]
        raise UserError(
            f"mmdebstrap could not unpack {' '.join(names)}: {'; '.join(reasons[:3]) or result.stderr[-300:]}"
        )
    return Packages(root, package_versions(listing.read_text().split()))


def package_versions(archives: Sequence[str]) -> dict[str, str]:
    """Names and versions from the archives' file names: name_version_architecture.deb, percent-encoded."""
    versions = {}
    for archive in sorted(archives):
        if archive.endswith(".deb"):
            name, version, _ = unquote(archive).split("_")
            versions[name] = version
    return versions
