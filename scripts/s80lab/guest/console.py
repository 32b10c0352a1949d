# SPDX-License-Identifier: GPL-2.0-or-later
"""Interprets the guest's console under either engine: `s80lab: STAGE`, `s80lab: FAILED reason`, or a kernel panic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A message of the guest to the host. Either stage (progress of init) or failure (why the guest ended) is set."""

    stage: str = ""
    failure: str = ""


def word(line: str) -> Word | None:
    """The message that a console line carries. Most lines carry none."""
    if "Kernel panic" in line:
        return Word(failure=f"the guest's kernel panicked: {line[line.index('Kernel panic') :].strip()}")
    _, marker, text = line.partition("s80lab: ")
    if not marker:
        return None
    if text.startswith("FAILED"):
        return Word(failure=f"the guest gave up: {text.removeprefix('FAILED').strip()}")
    return Word(stage=text.strip())
