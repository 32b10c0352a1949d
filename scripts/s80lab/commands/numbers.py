# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of options that are lists of numbers: seeds and boots."""

from __future__ import annotations

import re

from s80lab.base.errors import UserError
from s80lab.config.experiment import LARGEST_SEED

MOST_SEEDS = 20
"""Number of seeds that the message about a range of seeds spells out."""


def one_seed(seed: int | None) -> list[int]:
    """The value of --seed as a list; empty if the option is absent."""
    if seed is not None and not 1 <= seed <= LARGEST_SEED:
        raise UserError(f"--seed {seed}: write a whole number from 1 to {LARGEST_SEED}")
    return [] if seed is None else [seed]


def parse_seeds(text: str | None, option: str = "--seeds") -> list[int]:
    """The value of --seeds (or of `option`); empty if the option is absent."""
    return _parse_numbers(text, option, "seed")


def parse_boots(text: str | None) -> list[int]:
    """The value of --boots; empty if the option is absent."""
    return _parse_numbers(text, "--boots", "boot")


def _parse_numbers(text: str | None, option: str, noun: str) -> list[int]:
    if text is None:
        return []
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        example = "1,2,3"
        if (ends := re.fullmatch(r"(\d{1,9})(?:-|\.\.)(\d{1,9})", text)) and int(ends[1]) < int(ends[2]):
            example = ",".join(map(str, range(int(ends[1]), min(int(ends[2]), int(ends[1]) + MOST_SEEDS) + 1)))
        raise UserError(f"{option} {text}: write whole numbers separated by commas, for example {example}") from None
    if min(numbers) < 1 or max(numbers) > LARGEST_SEED:
        raise UserError(f"{option} {text}: write whole numbers from 1 to {LARGEST_SEED}")
    if len(set(numbers)) < len(numbers):
        raise UserError(
            f"{option} {text}: a {noun} is given twice; write each {noun} once, because each {noun} is one run"
        )
    return numbers
