# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of the numbers in configuration files. Each type has an upper limit, so that no sum or product overflows.

The plugin and SQLite store whole numbers below 2**63, the load generator and the mail store below 2**32. Tables of
configuration files (s80lab.base.strict.Strict) refuse infinity and NaN in every number.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

LARGEST = 10**18
"""Largest number of instructions, bytes or seeds. The sum of nine such numbers is below 2**63."""
COUNTED = (1 << 32) - 1
"""Largest number that the load generator, the mail store and the model store in 32 bits."""
MEASURED = 1_000_000_000
"""Largest duration, rate or weight. A thousand million seconds are 10**18 ns."""

Count = Annotated[int, Field(ge=1, le=COUNTED)]
CountOrZero = Annotated[int, Field(ge=0, le=COUNTED)]
Instructions = Annotated[int, Field(ge=1, le=LARGEST)]
InstructionsOrZero = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[float, Field(gt=0, le=MEASURED)]
NonNegative = Annotated[float, Field(ge=0, le=MEASURED)]
Milliseconds = Annotated[int, Field(ge=0, le=MEASURED)]
