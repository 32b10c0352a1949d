# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's Buildroot, our external tree for it, and the configuration of one image."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash
from s80lab.base.paths import ROOT
from s80lab.base.strict import short_path

TREE = ROOT / "disk-images" / "buildroot"
DEFCONFIG = TREE / "configs" / "s80lab_mail_defconfig"
WORKLOADS = ROOT / "workloads"
PACKING = ("packages.txt", "keep.txt", "drop.txt")
NO_SOURCES = ("README.md", "profiles", "scales", "servers", "classes.toml")
OLDEST, NEWEST = "2024.02", "2026.08"
"""Versions with the options of the external tree (tests/image/buildroot_symbols.txt), including their point releases
(2025.02.16)."""
_VERSION = re.compile(r"^export BR2_VERSION := ((\d{4}\.\d{2})\S*)$", re.MULTILINE)
_PLACE = re.compile(r"BR2_(EXTERNAL\w*|DL_DIR|DEFCONFIG|TOOLCHAIN_EXTERNAL_PATH|PACKAGE_OVERRIDE_FILE)=")
_SETTING = re.compile(r"(BR2_\w+)=.*|# (BR2_\w+) is not set")


@dataclass(frozen=True)
class Buildroot:
    """The sources of a Buildroot."""

    root: Path
    version: str


def find_buildroot(given: Path | None = None) -> Buildroot:
    """The user's Buildroot: the path given, or $BUILDROOT. UserError: it is not a Buildroot, or of an unsupported
    version."""
    named = given or (Path(os.environ["BUILDROOT"]) if os.environ.get("BUILDROOT") else None)
    if named is None:
        raise UserError("Buildroot was not found: give --buildroot PATH or set $BUILDROOT (docs/guides/buildroot.md)")
    root = named.expanduser().absolute()
    makefile = root / "Makefile"
    found = _VERSION.search(makefile.read_text(errors="replace")) if makefile.is_file() else None
    if found is None:
        raise UserError(f"{root} is not a folder with Buildroot's sources: it contains no Makefile with BR2_VERSION")
    if not OLDEST <= found[2] <= NEWEST:
        age = "older" if found[2] < OLDEST else "newer"
        raise UserError(
            f"{root} is Buildroot {found[1]}, {age} than the versions that disk-images/buildroot supports: "
            f"use one from {OLDEST} to {NEWEST}"
        )
    return Buildroot(root, found[1])


@dataclass(frozen=True)
class Configuration:
    """Buildroot's options for an image: those of the external tree, overridden by the user's fragments."""

    fragments: tuple[Path, ...] = ()

    def text(self) -> str:
        """The options as one defconfig file. If an option appears twice, the later line counts."""
        return "\n".join(path.read_text() for path in (DEFCONFIG, *self.fragments))

    def refused(self, config: Path) -> list[str]:
        """Wanted lines that are missing in the `.config` that Buildroot made of them: those about packages, and all
        lines of the fragments."""
        wanted = {
            found[1] or found[2]: line for line in self.text().splitlines() if (found := _SETTING.fullmatch(line))
        }
        own = {line for path in self.fragments for line in path.read_text().splitlines()}
        have = {line.partition("=")[0]: line for line in config.read_text().splitlines() if line.startswith("BR2_")}
        return [
            line
            for key, line in wanted.items()
            if (line in own or key.startswith("BR2_PACKAGE_"))
            and have.get(key, _not_set(key)) != (_not_set(key) if line == f"{key}=n" else line)
        ]


def _not_set(key: str) -> str:
    return f"# {key} is not set"


def load_configuration(*fragments: Path) -> Configuration:
    """Load the options. UserError: a fragment cannot be read, or a line of it is not an option."""
    for fragment in fragments:
        try:
            lines = fragment.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{fragment}: cannot be read ({error})") from None
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith("#") and not _SETTING.fullmatch(line):
                raise UserError(f"{fragment}, line {number}: `{line}` is not an option of Buildroot (BR2_...=value)")
    return Configuration(fragments)


def config_hash(config: Path) -> str:
    """SHA-256 of the options in a `.config`, without those that name places on this host."""
    lines = [line for line in config.read_text().splitlines() if line.startswith("BR2_")]
    return text_hash("\n".join(line for line in lines if not _PLACE.match(line)))


def tree_digest() -> str:
    """One digest over the parts of the external tree that Buildroot reads. A change rebuilds everything."""
    return _digest(path for path in TREE.rglob("*") if path.relative_to(TREE).as_posix() not in PACKING)


def packing_digest() -> str:
    """One digest over everything that decides which files the guest has. A change packs the image anew."""
    return _digest(TREE / name for name in PACKING)


def _digest(paths: Iterable[Path]) -> str:
    files = sorted(path for path in paths if path.is_file())
    return text_hash("\n".join(f"{path.relative_to(TREE)} {file_hash(path)}" for path in files))


def sources_digest() -> str:
    """One digest over the sources of our programs. A change rebuilds them. UserError: the sources are missing."""
    if not (WORKLOADS / "CMakeLists.txt").is_file():
        raise UserError(
            f"{short_path(WORKLOADS)} does not contain the sources of the guest's programs, which Buildroot compiles: "
            "build the image in a checkout"
        )
    files = sorted(path for path in WORKLOADS.rglob("*") if path.is_file())
    files = [path for path in files if path.relative_to(WORKLOADS).parts[0] not in NO_SOURCES]
    return text_hash("\n".join(f"{path.relative_to(WORKLOADS)} {file_hash(path)}" for path in files))
