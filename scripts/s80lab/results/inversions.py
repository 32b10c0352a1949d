# SPDX-License-Identifier: GPL-2.0-or-later
"""Order inversions of a run or a replay, from order.json.

Definition: docs/background/clock.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError

ORDER = "order.json"


def inverted_share(folder: Path) -> float | None:
    """Share of the cache-to-cache transfers with inverted order; None if there are no transfers."""
    found = _read(folder)
    whole = _sum(found["transfers"])
    return _sum(found["inverted_transfers"]) / whole if whole else None


def sentence(folder: Path) -> str:
    """A sentence with the share of order inversions. UserError if the file is missing or unreadable."""
    found = _read(folder)
    inverted, whole = _sum(found["inverted_transfers"]), _sum(found["transfers"])
    share = inverted_share(folder)
    return (
        f"order inversions: {inverted} of {whole} cache-to-cache transfers and upgrades "
        f"({'-' if share is None else f'{share:.1%}'})"
    )


def _sum(transfers: dict[str, int]) -> int:
    return transfers["cache"] + transfers["upgrade"]


def _read(folder: Path) -> dict[str, Any]:
    path = folder / ORDER
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); repeat the run or replay with --order") from None
