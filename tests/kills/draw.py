# SPDX-License-Identifier: GPL-2.0-or-later
"""Random draws: when a command is killed, with which signal, and which processes get the signal."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass
from typing import Literal

Target = Literal["command", "group"]
MOST_IN_A_ROW = 4


@dataclass(frozen=True)
class Kill:
    """One kill.

    share: the moment, as a share of the command's undisturbed duration.
    number: the signal.
    target: the command alone, or its whole process group.
    """

    share: float
    number: signal.Signals
    target: Target

    @property
    def kind(self) -> str:
        return f"{self.number.name} to the {self.target}"


def draw_kills(seed: int, command: str, number: int) -> list[Kill]:
    """The kills of one round. Equal arguments give equal kills, whatever was drawn before.

    number: the number of the round, from 1.
    """
    draw = random.Random(f"{seed} {command} {number}")
    return [
        Kill(draw.random(), draw.choice((signal.SIGKILL, signal.SIGTERM)), draw.choice(("command", "group")))
        for _ in range(draw.randint(1, MOST_IN_A_ROW))
    ]
