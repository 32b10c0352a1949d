# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the user's gem5 and checks its build options. gem5/check decides by result whether its protocol is right."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import scratch
from s80lab.base.strict import Strict

PROTOCOL = "MOESI_hammer"

SCRIPT = paths.ROOT / "configs" / "gem5" / "about.py"
NAMES = ("gem5.fast", "gem5.opt", "gem5.debug", "gem5")
ANSWER_S = 60.0
_COMPLAINT = re.compile(
    r"(?:\w+\.py: (?P<ours>.*)|.*?(?P<its>(?:fatal|panic): .*)|(?P<python>\w*(?:Error|Exception): .*))"
)


def find_gem5(given: Path | None = None) -> Path:
    """The user's gem5: the path given, $GEM5, or the first gem5.* on PATH. UserError: none was found."""
    named = given or (Path(os.environ["GEM5"]) if os.environ.get("GEM5") else None)
    if named is not None:
        if not os.access(named, os.X_OK) or named.is_dir():
            raise UserError(f"{named} is not an executable file: name a gem5 binary with --gem5 or $GEM5")
        return named
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    raise UserError(
        "gem5 was not found: give --gem5 PATH, set $GEM5, or put gem5.fast on PATH "
        f"(24.0 or later, built with {PROTOCOL})"
    )


def complaint(log: str) -> str:
    """The line of gem5's log that states the error: from our script, from gem5, or from a Python exception."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if match := _COMPLAINT.match(line):
            return str(match[match.lastgroup or 0])
    return lines[-1] if lines else "it printed nothing"


class About(Strict):
    """What a gem5 says about itself. release: the row of the table in configs/gem5/release.py that fits it."""

    version: str
    release: str
    protocols: tuple[str, ...]
    isas: tuple[str, ...]

    def require(self, gem5: Path, *, x86: bool) -> None:
        """UserError if the build options do not fit. x86: gem5 must be able to boot a guest."""
        if PROTOCOL not in self.protocols:
            has = ", ".join(self.protocols) or "no protocol of Ruby"
            raise UserError(f"{gem5} was built with {has}; build it with {PROTOCOL} (docs/guides/gem5.md)")
        if x86 and "X86" not in self.isas:
            raise UserError(
                f"{gem5} was built without X86, which the guest needs; build it with X86 (docs/guides/gem5.md)"
            )


def ask(gem5: Path) -> About:
    """Start gem5 and read its version and build options; UserError if it does not report them."""
    with scratch() as out:
        try:
            answer = subprocess.run(
                [str(gem5), "--outdir", str(out), str(SCRIPT)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=ANSWER_S,
            ).stdout
            about = json.loads(answer.strip().splitlines()[-1])
            return About(
                version=about["gem5"], release=about["release"], protocols=about["protocols"], isas=about["isa"]
            )
        except (OSError, ValueError, LookupError, TypeError, subprocess.TimeoutExpired):
            raise UserError(
                f"{gem5} did not report its version and build options to the script {SCRIPT.name}: name a gem5 "
                "binary, 24.0 or later, with --gem5 or $GEM5"
            ) from None


def require(gem5: Path, *, x86: bool) -> About:
    """Check the build options of a gem5 before a long run; UserError if they do not fit. x86: gem5 must be able to boot
    a guest."""
    about = ask(gem5)
    about.require(gem5, x86=x86)
    return about
