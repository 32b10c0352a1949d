# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way to change one key of one cell of a home.

`python -m tests.protocol.mutants [PROTOCOL ...]` proves or refuses each of them. It prints those that are still proven:
they cost performance, but no correctness.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.protocol.tables import HOMED, edited

from s80lab.base.errors import UserError
from s80lab.protocol.proof import prove
from s80lab.protocol.table import EndCell, find_protocol, load_protocol

FLAGS = ("supply", "first", "writeback", "recall")
WORDS = ("grants", "gives")


def cell_text(keys: dict[str, object]) -> str:
    """A cell as a line of a table."""
    words = (f"{key} = {str(one).lower() if isinstance(one, bool) else json.dumps(one)}" for key, one in keys.items())
    return "{ " + ", ".join(words) + " }"


def mutants(name: str) -> Iterator[tuple[str, str]]:
    """Place and new text of each mutant of a shipped table: another next state, a flag or word less, a recall that
    keeps the copy or its data."""
    protocol = load_protocol(find_protocol(name))
    assert protocol.home is not None
    for row, cells in protocol.home.rows():
        for state, cell in cells.items():
            if cell.possible:
                yield from ((f"{row}.{state}", text) for text in _changed(cell, list(protocol.home.states)))
    for state, recalled in (protocol.remote.recall or {}).items():
        if state != protocol.invalid:
            keys = recalled.model_dump(exclude_unset=True)
            yield f"remote.recall.{state}", cell_text(keys | {"next": state})
            if recalled.writeback:
                yield f"remote.recall.{state}", cell_text({"next": protocol.invalid})


def _changed(cell: EndCell, states: list[str]) -> Iterator[str]:
    keys = cell.model_dump(exclude_unset=True)
    for key, end in cell.ends():
        yield from (cell_text(keys | {key: other}) for other in states if other != end)
    for key in (*FLAGS, *WORDS):
        if keys.get(key):
            less = {one: value for one, value in keys.items() if one != key}
            yield cell_text(
                {one: value for one, value in less.items() if key != "supply" or one not in ("first", "gives")}
            )


def verdict(name: str, place: str, text: str, folder: Path) -> tuple[str, int] | None:
    """The violated law and the number of events; None if the mutant is proven. The reader's refusal has no events."""
    try:
        found = prove(edited(folder, name, place, text)).counterexample
    except UserError as error:
        return str(error).rpartition(": ")[2], 0
    return None if found is None else (found.fault.law, found.events)


def unguarded(name: str, folder: Path) -> list[str]:
    """The cells of which no mutant is refused: anything could stand there."""
    refused: dict[str, bool] = {}
    for place, text in mutants(name):
        refused[place] = refused.get(place, False) or verdict(name, place, text, folder) is not None
    return [place for place, found in refused.items() if not found]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or HOMED:
            results = {mutant: verdict(name, *mutant, Path(folder)) for mutant in mutants(name)}
            refused = [result for result in results.values() if result is not None]
            by_reader = sum(events == 0 for _, events in refused)
            proof = len(refused) - by_reader
            print(
                f"{name}: {len(results)} mutants, {by_reader} refused by the reader, {proof} by the proof", flush=True
            )
            for (place, text), result in results.items():
                if result is None:
                    print(f"  proven: {place} = {text}")
            if bare := unguarded(name, Path(folder)):
                sys.exit(f"{name}: no mutant of these cells is refused: {', '.join(bare)}")
