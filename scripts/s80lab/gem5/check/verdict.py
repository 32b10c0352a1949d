# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a check, and where it is stored: build/gem5-checks/KEY, with the outputs of gem5.

KEY is a hash of the binary's bytes and of everything else that decides the result: the traces, the scripts that gem5
runs, the table `hammer`, and the table of categories.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.strict import Strict
from s80lab.gem5.agree import categories
from s80lab.gem5.binary import PROTOCOL, About
from s80lab.gem5.check import traces

FILE = "verdict.json"
LARGEST = 16 << 20
"""Largest size of a stored verdict in bytes."""
# Scripts that gem5 runs when it replays a trace, or that say what gem5 is.
SCRIPTS = tuple(
    f"{name}.py" for name in ("about", "facts", "hammer", "hierarchy", "library", "machine_file", "release", "replay")
)


class Difference(Strict):
    """A category that gem5 and the model count differently. trace: the simulation in which they do."""

    trace: str
    category: str
    ruby: int
    model: int


class Verdict(Strict):
    """The result for one binary.

    about: what the binary says about itself. failure: why gem5 did not play a trace to its end; empty if it did.
    reached: transitions STATE.EVENT that occurred, by controller.
    """

    binary: str
    about: About
    traces: int
    accesses: int
    categories: int
    differences: list[Difference]
    failure: str
    reached: dict[str, list[str]]
    seconds: float

    @property
    def certified(self) -> bool:
        return not self.differences and not self.failure

    @property
    def unchecked(self) -> list[str]:
        """The other coherence protocols of the binary, which the check does not play."""
        return [name for name in self.about.protocols if name != PROTOCOL]

    @property
    def differing(self) -> list[str]:
        """The categories that differ in any trace."""
        return list(dict.fromkeys(one.category for one in self.differences))

    def reason(self) -> str:
        """Why the binary is refused: the failure, or the largest differences."""
        if self.failure:
            return self.failure
        largest = sorted(self.differences, key=lambda one: -abs(one.model - one.ruby))
        named = [f"{one.category} ({one.trace}: gem5 {one.ruby}, model {one.model})" for one in largest]
        more = f", and {len(named) - 3} more" if len(named) > 3 else ""
        return f"{', '.join(named[:3])}{more}"

    def record(self, gem5: Path) -> dict[str, Any]:
        """The verdict as a JSON object."""
        return {
            "gem5": str(gem5),
            "certified": self.certified,
            **self.model_dump(mode="json"),
            "existing": traces.existing_transitions(),
            "not_checked": self.unchecked,
        }


def key(binary: str) -> str:
    """The name under which the verdict on a binary with this hash is stored."""
    return value_hash({"binary": binary, "inputs": {path.name: file_hash(path) for path in _inputs()}})


def _inputs() -> Iterable[Path]:
    yield from (paths.ROOT / "configs" / "gem5" / name for name in SCRIPTS)
    yield from sorted(traces.FOLDER.iterdir())
    yield paths.PROTOCOLS / "hammer.toml"
    yield from (Path(module.__file__) for module in (categories, traces) if module.__file__)


def folder(binary: str) -> Path:
    """The folder of the verdict on this binary and of gem5's outputs ($S80LAB_GEM5_CHECKS moves the folder of all)."""
    return Path(os.environ.get("S80LAB_GEM5_CHECKS", paths.BUILD / "gem5-checks")) / key(binary)


def stored(binary: str) -> Verdict | None:
    """The stored verdict on this binary. None: there is none, it is unreadable, or gem5 failed; a failure can have
    other causes than the binary."""
    try:
        verdict = Verdict.model_validate_json(read_regular(folder(binary) / FILE, LARGEST))
    except (UserError, ValidationError):
        return None
    return None if verdict.failure else verdict
