# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows how compiling without optimisation changes the paper's instruction mix (its claims C23 and C25):

    python -m tests.results.metrics.unoptimised

The program compiles a loop that reads lines of a mailbox (data/read_line.c), in which the paper's server spent 84% of
its user time. It compiles the loop with and without optimisation, by gcc and, if it is installed, by
powerpc-linux-gnu-gcc (Debian: gcc-powerpc-linux-gnu), and counts the instructions of the loop. Nearly every character
executes all of them, so their shares are the instruction mix.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "data" / "read_line.c"
COMPILERS = ("gcc", "powerpc-linux-gnu-gcc")
LEVELS = ("-O0", "-O2")

_LABEL = re.compile(r"(\.L\d+):")
# PowerPC: the mnemonic says it. x86: an operand in memory does, but for LEA, which only computes an address.
_POWERPC_MEMORY = re.compile(r"(l[bhw]z?|st[bhw])(u|x|ux)?\s")
_X86_MEMORY = re.compile(r"(?!lea).*\(%")


@dataclass(frozen=True)
class Mix:
    """Of the instructions of the loop."""

    instructions: int
    loads_and_stores: float
    branches: float


def loop_mix(compiler: str, level: str) -> Mix:
    """Compiles the loop and counts; subprocess.CalledProcessError where the compiler refuses."""
    command = [compiler, level, "-S", "-o", "-", str(SOURCE)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    body = _loop([line.strip() for line in text.splitlines()])
    memory = _POWERPC_MEMORY if "powerpc" in compiler else _X86_MEMORY
    branch = re.compile(r"b" if "powerpc" in compiler else r"j")
    return Mix(
        instructions=len(body),
        loads_and_stores=sum(bool(memory.match(line)) for line in body) / len(body),
        branches=sum(bool(branch.match(line)) for line in body) / len(body),
    )


def _loop(lines: list[str]) -> list[str]:
    """The instructions from the first label that is jumped back to, up to the last such jump."""
    places = {match[1]: place for place, line in enumerate(lines) if (match := _LABEL.match(line))}
    jumps = [(places[label], place) for place, line in enumerate(lines) for label in _targets(line) if label in places]
    back = [(to, at) for to, at in jumps if to < at]
    begin, end = min(to for to, _ in back), max(at for _, at in back)
    return [line for line in lines[begin : end + 1] if line and not line.startswith(".")]


def _targets(line: str) -> list[str]:
    return [] if line.startswith(".") else re.findall(r"\.L\d+", line)


if __name__ == "__main__":
    for name in COMPILERS:
        if shutil.which(name) is None:
            print(f"{name}: not here")
            continue
        for optimisation in LEVELS:
            mix = loop_mix(name, optimisation)
            print(
                f"{name} {optimisation}: {mix.instructions} instructions a character, "
                f"{mix.loads_and_stores:.0%} load or store, {mix.branches:.0%} branch"
            )
