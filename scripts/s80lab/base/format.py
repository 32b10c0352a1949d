# SPDX-License-Identifier: GPL-2.0-or-later
"""How tables print numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Format:
    """How a value is printed: value x scale, with `digits` decimals and a suffix."""

    digits: int
    scale: float = 1.0
    suffix: str = ""

    def text(self, value: float, sign: Literal["", "+"] = "") -> str:
        """The value without the suffix. sign: `+` to also mark positive values."""
        return f"{value * self.scale:{sign},.{self.digits}f}"


ABSENT = "-"
"""The text of a number that does not exist."""
PERCENT = Format(1, 100.0, "%")
FINE_PERCENT = Format(2, 100.0, "%")
WHOLE = Format(0)
ONE = Format(1)
TWO = Format(2)
THREE = Format(3)
