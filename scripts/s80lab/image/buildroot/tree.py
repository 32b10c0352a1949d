# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's Buildroot, the external tree that it is given, and the configuration of one image."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash
from s80lab.base.paths import ROOT
from s80lab.base.strict import shown

TREE = ROOT / "disk-images" / "buildroot"
DEFCONFIG = TREE / "configs" / "s80lab_mail_defconfig"
WORKLOADS = ROOT / "workloads"
PACKING = ("packages.txt", "keep.txt", "drop.txt")
NO_SOURCES = ("profiles", "scales", "servers", "classes.toml")
OLDEST, NEWEST = "2024.02", "2026.08"
"""Versions whose options are those of the external tree (tests/image/buildroot_symbols.txt); each with what was mended
in it (2025.02.16)."""
_VERSION = re.compile(r"^export BR2_VERSION := ((\d{4}\.\d{2})\S*)$", re.MULTILINE)
_PLACE = re.compile(r"BR2_(EXTERNAL\w*|DL_DIR|DEFCONFIG|TOOLCHAIN_EXTERNAL_PATH|PACKAGE_OVERRIDE_FILE)=")
_SETTING = re.compile(r"(BR2_\w+)=.*|# (BR2_\w+) is not set")


@dataclass(frozen=True)
class Buildroot:
    """A Buildroot's sources."""

    root: Path
    version: str


def find_buildroot(given: Path | None = None) -> Buildroot:
    """The user's Buildroot: the path given, else $BUILDROOT; UserError where it is none or of another version."""
    named = given or (Path(os.environ["BUILDROOT"]) if os.environ.get("BUILDROOT") else None)
    if named is None:
        raise UserError("no Buildroot: give --buildroot PATH or set $BUILDROOT (docs/guides/buildroot.md)")
    root = named.expanduser().absolute()
    makefile = root / "Makefile"
    found = _VERSION.search(makefile.read_text(errors="replace")) if makefile.is_file() else None
    if found is None:
        raise UserError(f"{root} is no Buildroot: it has no Makefile that names a BR2_VERSION")
    if not OLDEST <= found[2] <= NEWEST:
        age = "older" if found[2] < OLDEST else "newer"
        raise UserError(
            f"{root} is Buildroot {found[1]}, {age} than what disk-images/buildroot was made for: "
            f"take one from {OLDEST} to {NEWEST}"
        )
    return Buildroot(root, found[1])


@dataclass(frozen=True)
class Configuration:
    """Buildroot's options for an image: the tree's, and fragments of the user's over them."""

    fragments: tuple[Path, ...] = ()

    def text(self) -> str:
        """As one defconfig file; of two lines of the same option the later counts."""
        return "\n".join(path.read_text() for path in (DEFCONFIG, *self.fragments))

    def refused(self, config: Path) -> list[str]:
        """Lines that are wanted and do not stand in the `.config` that Buildroot made of them: of packages, and all of
        the fragments'."""
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
    """UserError where a fragment cannot be read or holds what is no option."""
    for fragment in fragments:
        try:
            lines = fragment.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{fragment}: cannot be read ({error})") from None
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith("#") and not _SETTING.fullmatch(line):
                raise UserError(f"{fragment}, line {number}: `{line}` is no option of Buildroot (BR2_...=value)")
    return Configuration(fragments)


def config_hash(config: Path) -> str:
    """SHA-256 of the options in a `.config`, those aside that say where on this host something lies."""
    lines = [line for line in config.read_text().splitlines() if line.startswith("BR2_")]
    return text_hash("\n".join(line for line in lines if not _PLACE.match(line)))


def tree_digest() -> str:
    """One digest over what Buildroot reads of the external tree; a change of it builds everything anew."""
    return _digest(path for path in TREE.rglob("*") if path.relative_to(TREE).as_posix() not in PACKING)


def packing_digest() -> str:
    """One digest over what decides which files the guest has; a change of it packs anew."""
    return _digest(TREE / name for name in PACKING)


def _digest(paths: Iterable[Path]) -> str:
    files = sorted(path for path in paths if path.is_file())
    return text_hash("\n".join(f"{path.relative_to(TREE)} {file_hash(path)}" for path in files))


def sources_digest() -> str:
    """One digest over the sources of our programs; a change builds these anew. UserError where they are not there."""
    if not (WORKLOADS / "CMakeLists.txt").is_file():
        raise UserError(
            f"{shown(WORKLOADS)} has no sources of the guest's programs, which Buildroot is to compile: "
            "build the image in a checkout"
        )
    files = sorted(path for path in WORKLOADS.rglob("*") if path.is_file())
    files = [path for path in files if path.relative_to(WORKLOADS).parts[0] not in NO_SOURCES]
    return text_hash("\n".join(f"{path.relative_to(WORKLOADS)} {file_hash(path)}" for path in files))
