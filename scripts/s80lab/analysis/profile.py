# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's profile (`s80lab run ... --profile`): its instructions by process and function.

Files in the run's folder: profile.json (the plugin's samples, taken at a fixed number of instructions per processor)
and memory.npz (the files that the guest's processes had mapped).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.analysis.misses.functions import Functions, file_of
from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.run import booted_image
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.results.run_folder import MEMORY_MAP, PROFILE, RunFolder

SESSION, USER = "session", "user"
KERNEL = "kernel"


@dataclass(frozen=True)
class Sample:
    """`count` samples in one basic block: process, class, kernel entry cause (`user` for user code) and function."""

    process: str
    party: str
    entry: str
    function: str
    count: int

    @property
    def program(self) -> str:
        """The file that contains the function; `kernel` for kernel code."""
        return file_of(self.function) if self.entry == USER else KERNEL


@dataclass(frozen=True)
class Profile:
    """The samples of a run. branches: by privilege, how many sampled conditional branches were `taken` and
    `not_taken`."""

    samples: list[Sample]
    branches: Mapping[str, Mapping[str, int]]


def read_profile(run: Path) -> Profile:
    """The run's profile. UserError if it has none, or if the image that it booted no longer exists."""
    content = _content(run)
    return Profile(_samples(run, content), content["branches"])


def collapsed(samples: Iterable[Sample]) -> str:
    """One line per stack: `process;entry;function count`."""
    stacks = Counter[str]()
    for one in samples:
        frames = (one.process, one.entry, one.function)
        stacks[";".join(frame.replace(";", ",") for frame in frames)] += one.count
    return "".join(f"{stack} {count}\n" for stack, count in sorted(stacks.items()))


def _content(run: Path) -> dict[str, Any]:
    if not RunFolder(run).has_profile():
        raise UserError(f"{run}: this run has no profile; run the experiment with --profile")
    try:
        content: dict[str, Any] = json.loads((run / PROFILE).read_text(encoding="utf-8"))
        return content
    except (OSError, ValueError) as error:
        raise UserError(f"{run / PROFILE}: cannot be read ({error}); run it again with --profile") from None


def _samples(run: Path, content: dict[str, Any]) -> list[Sample]:
    image, kernel = booted_image(run)
    functions = Functions(kernel.symbols, read_map(run / MEMORY_MAP).files, image / "initramfs.cpio", paths.BIN)
    try:
        parties, entries = content["labels"]["class"], content["labels"]["entry"]
        # One name for the threads that each processor has: `swapper/3`.
        whos = [(int(pid), re.sub(r"/\d+$", "", str(process))) for pid, process, _ in content["whos"]]
        return [
            Sample(
                process=whos[who][1],
                party=parties[context // len(entries)],
                entry=entries[context % len(entries)],
                function=functions.name(whos[who][0], block),
                count=count,
            )
            for block, who, context, count in content["samples"]
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UserError(f"{run / PROFILE}: cannot be read ({error}); run it again with --profile") from None
