# SPDX-License-Identifier: GPL-2.0-or-later
"""Interprets the guest's console under either engine: `s80lab: STAGE`, `s80lab: FAILED reason`, or a kernel panic."""

from __future__ import annotations

import re
from dataclasses import dataclass

STARTING = "starting"
"""The stage of a guest that has not printed a stage yet."""
# The guest's own words for its stages, without percentages. Other words are shown as they are.
_STAGES = {
    STARTING: "kernel",
    "boot": "system",
    "store": "mail store",
    "ready": "logging the clients in",
}


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


def boot_stage(stage: str) -> tuple[str, tuple[str, ...]]:
    """The name of a boot's stage for progress lines, and its details.

    `store 40%` gives `boot: mail store` and `40%`. The guest prints `ready` before the load generator logs the clients
    in.

    stage: the last stage that the guest printed, or STARTING.
    """
    match = re.fullmatch(r"(.*?)(?: (\d+%?))?", stage)
    assert match is not None
    name, amount = match[1], match[2]
    return f"boot: {_STAGES.get(name, name)}", (amount,) if amount else ()
