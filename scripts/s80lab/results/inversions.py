# SPDX-License-Identifier: GPL-2.0-or-later
"""Order inversions of a run or a replay, summarised in one sentence from order.json.

Definition: docs/background/clock.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError

ORDER = "order.json"


def inverted_share(folder: Path) -> float | None:
    """Inverted transfers between caches, of all of them; None where there are none."""
    found = _read(folder)
    whole = _sum(found["transfers"])
    return _sum(found["inverted_transfers"]) / whole if whole else None


def sentence(folder: Path) -> str:
    """For people. UserError when the file is missing or unreadable."""
    found = _read(folder)
    inverted, whole = _sum(found["inverted_transfers"]), _sum(found["transfers"])
    share = inverted_share(folder)
    return (
        f"order: {inverted} of {whole} transfers between caches "
        f"({'-' if share is None else f'{share:.1%}'}) are played against the guest's order"
    )


def _sum(transfers: dict[str, int]) -> int:
    return transfers["cache"] + transfers["upgrade"]


def _read(folder: Path) -> dict[str, Any]:
    path = folder / ORDER
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); run it again with --order") from None
