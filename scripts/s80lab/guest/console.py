# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest says on its console, whoever simulates it: `s80lab: STAGE`, `s80lab: FAILED why`, or a kernel panic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """stage: the init's progress; failure: why the guest has ended. One of them."""

    stage: str = ""
    failure: str = ""


def word(line: str) -> Word | None:
    """What a line of the console tells the host; most tell nothing."""
    if "Kernel panic" in line:
        return Word(failure=f"the guest's kernel panicked: {line[line.index('Kernel panic') :].strip()}")
    _, marker, text = line.partition("s80lab: ")
    if not marker:
        return None
    if text.startswith("FAILED"):
        return Word(failure=f"the guest gave up: {text.removeprefix('FAILED').strip()}")
    return Word(stage=text.strip())
