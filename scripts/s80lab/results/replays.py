# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays in the database that differ from a run in the size of the L2 only."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.results.database import connect, list_runs

SIZE, MPKI = "l2.size", "l2_mpki.all"
_SAME = ("experiment", "mix", "scale", "machine", "protocol", "server", "image")


@dataclass(frozen=True)
class Replayed:
    """A valid replay: size of the L2 in bytes, seed and form of the capture, L2 misses per 1000 instructions."""

    size: int
    seed: int
    form: str
    mpki: float


def replays_over_sizes(database: Path, manifest: Mapping[str, Any]) -> list[Replayed]:
    """The valid replays of captures of a run's workload on its machine with any size of the L2.

    The full capture of a seed and size stands before the filtered one. manifest: of the run.
    """
    runs = {
        str(row["id"]): row
        for row in (list_runs(database) if database.is_file() else [])
        if row["engine"] == "replay"
        and row["status"] == "result"
        and all(str(row[key]) == str(manifest[key]) for key in _SAME)
    }
    wanted = {key: str(value) for key, value in manifest.get("design", {}).items() if key != SIZE}
    if not runs:
        return []
    found = []
    with closing(connect(database)) as connection:
        for name, row in runs.items():
            design = {key: str(value) for key, value in connection.execute(_DESIGN, (name,))}
            size = design.pop(SIZE, None)
            (mpki,) = connection.execute(_MPKI, (name, MPKI)).fetchone() or (None,)
            if size is not None and mpki is not None and design == wanted:
                found.append(Replayed(int(size), int(row["seed"]), str(row["form"]), float(mpki)))
    return sorted(found, key=lambda one: (one.size, one.seed, one.form != "full"))


_DESIGN = "SELECT key, value FROM design WHERE run = ?"
_MPKI = "SELECT value FROM metric WHERE run = ? AND name = ?"
