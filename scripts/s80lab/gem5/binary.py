# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the user's gem5 and checks its build options. gem5/check decides by result whether its protocol is right."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.staging import scratch
from s80lab.base.strict import Strict

PROTOCOL = "MOESI_hammer"

SCRIPT = paths.ROOT / "configs" / "gem5" / "about.py"
NAMES = ("gem5.fast", "gem5.opt", "gem5.debug", "gem5")
ANSWER_S = 60.0
LONGEST_ANSWER = 1 << 20
"""Bytes of gem5's answers and logs that are read."""
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
            answer = _answer([str(gem5), "--outdir", str(out), str(SCRIPT)])
            about = json.loads(answer.decode().strip().splitlines()[-1])
            return About(
                version=about["gem5"], release=about["release"], protocols=about["protocols"], isas=about["isa"]
            )
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            raise UserError(
                f"{gem5} did not report its version and build options to the script {SCRIPT.name}: name a gem5 "
                "binary, 24.0 or later, with --gem5 or $GEM5"
            ) from None


def _answer(command: Sequence[str]) -> bytes:
    """What a command prints, at most LONGEST_ANSWER bytes; then, or after ANSWER_S seconds, the command is ended."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        timer = threading.Timer(ANSWER_S, process.kill)
        timer.start()
        try:
            answer = process.stdout.read(LONGEST_ANSWER)
            if len(answer) == LONGEST_ANSWER:
                process.kill()
            process.wait()
        finally:
            process.kill()
            timer.cancel()
    return answer


def log_text(log: Path) -> str:
    """The text of gem5's log; of a long log, the last LONGEST_ANSWER bytes."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LONGEST_ANSWER))
        return file.read(LONGEST_ANSWER).decode(errors="replace")


def read_facts(path: Path) -> dict[str, Any]:
    """The facts that our script has written about a simulation. UserError if the file has another form."""
    try:
        facts = json.loads(read_regular(path, LONGEST_ANSWER, "repeat the command"))
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise UserError(f"{path}: is not a JSON object of facts about the simulation; repeat the command")
    return facts


def require(gem5: Path, *, x86: bool) -> About:
    """Check the build options of a gem5 before a long run; UserError if they do not fit. x86: gem5 must be able to boot
    a guest."""
    about = ask(gem5)
    about.require(gem5, x86=x86)
    return about
