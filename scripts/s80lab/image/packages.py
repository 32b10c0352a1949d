# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks Debian packages into a private folder, as root or as an ordinary user, without maintainer scripts; builds
programs of a server from a source package."""

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
from s80lab.base.strict import short_path
from s80lab.config.server import Built

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


TOLD = 300  # characters of what a failed program said


def deb_src(suite: str) -> str:
    """The apt source line for Debian's source packages, from the mirror of this machine's own apt sources."""
    return f"deb-src [signed-by={KEYRING}] {debian_mirror()} {suite} main"


def build_programs(built: Built, line: str, work: Path) -> Path:
    """Build the programs and return the new folder in `work` that holds them. line: the apt source line. UserError
    names what is missing."""
    source, out = unpack_source(built.package, line, work), work / "programs"
    out.mkdir()
    _run(["sh", str(built.script), str(source), str(out)], work, f"{short_path(built.script)} failed")
    for program in built.programs:
        if not (out / program).is_file():
            raise UserError(
                f"the build script {short_path(built.script)} ended without building {program}: correct the script "
                "or the key `programs`"
            )
    return out


def unpack_source(package: str, line: str, work: Path) -> Path:
    """The tree of the source package in a new folder in `work`, with its patches applied. apt compares every file with
    the hashes in the signed index."""
    files = work / "source"
    for folder in ("lists/partial", "cache/archives/partial"):
        (files / folder).mkdir(parents=True)
    (files / "sources.list").write_text(line + "\n")
    settings = {
        "Dir::Etc::SourceList": files / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": files / "lists",
        "Dir::Cache": files / "cache",
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", *(f"--option={key}={value}" for key, value in settings.items())]
    lacking = f"Debian's source package {package} cannot be fetched"
    _run([*apt, "update"], files, lacking)
    _run([*apt, "source", "--download-only", package], files, lacking)
    (description,) = files.glob("*.dsc")
    tree = files / "tree"
    _run(
        ["dpkg-source", "--extract", str(description), str(tree)],
        files,
        f"Debian's source package {package} cannot be unpacked",
    )
    return tree


def _run(command: Sequence[str], folder: Path, failed: str) -> None:
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        package = "dpkg-dev" if command[0] == "dpkg-source" else "apt"
        raise UserError(f"{failed}: {command[0]} is not installed: apt-get install {package}") from error
    if done.returncode != 0:
        reasons = [text for text in done.stderr.splitlines() if text.startswith(("E:", "Err:"))]
        raise UserError(f"{failed}: {reasons[0] if reasons else done.stderr[-TOLD:].strip() or 'no message'}")
