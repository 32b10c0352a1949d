# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's profile (`s80lab run ... --profile`): its instructions by process and function.

Files in the run's folder: profile.json (the plugin's samples, taken at a fixed number of instructions per processor)
and memory.npz (the files that the guest's processes had mapped).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import FailFast, Field, ValidationError

from s80lab.analysis.misses.functions import Functions, file_of
from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.run import booted_image
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.strict import Strict
from s80lab.results.products import check_logs
from s80lab.results.run_folder import LARGEST_FILE, MEMORY_MAP, PROFILE, RunFolder

_AGAIN = "copy the folder of the run again, or run the experiment again with --profile"
_Number = Annotated[int, Field(ge=0, lt=1 << 64)]
_Sample = tuple[_Number, _Number, _Number, Annotated[int, Field(ge=0, lt=1 << 63)]]

SESSION, USER = "session", "user"
KERNEL = "kernel"


@dataclass(frozen=True)
class Sample:
    """`count` samples in one basic block: process, class, kernel entry cause (`user` for user code) and function."""

    process: str
    process_class: str
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


class _Content(Strict):
    """The content of profile.json (docs/reference/interfaces/profile.md)."""

    period: _Number
    labels: dict[str, Annotated[list[str], Field(min_length=1)]]
    whos: Annotated[list[tuple[int, str, int]], FailFast()]
    branches: dict[str, dict[str, _Number]]
    samples: Annotated[list[_Sample], FailFast()]


def read_profile(run: Path) -> Profile:
    """The run's profile. UserError if it has none, if the manifest lists another file, or if the image that the run
    booted no longer exists."""
    folder = RunFolder(run)
    if not folder.has_profile():
        raise UserError(f"{run}: this run has no profile; run the experiment with --profile")
    check_logs(folder, PROFILE, MEMORY_MAP)
    content = _content(run / PROFILE)
    return Profile(_samples(run, content), content.branches)


def count_samples(path: Path) -> int:
    """The number of entries of a profile's samples."""
    return len(_content(path).samples)


def collapsed(samples: Iterable[Sample]) -> str:
    """One line per stack: `process;entry;function count`."""
    stacks = Counter[str]()
    for one in samples:
        frames = (one.process, one.entry, one.function)
        stacks[";".join(frame.replace(";", ",") for frame in frames)] += one.count
    return "".join(f"{stack} {count}\n" for stack, count in sorted(stacks.items()))


def _content(path: Path) -> _Content:
    """The content of a profile. UserError if it is not one that the plugin writes."""
    try:
        content = _Content.model_validate_json(read_regular(path, LARGEST_FILE, _AGAIN))
    except ValidationError as failure:
        key = ".".join(map(str, failure.errors(include_input=False)[0]["loc"]))
        raise UserError(f"{path}: cannot be read{f' (key `{key}`)' if key else ''}; {_AGAIN}") from None
    labels = content.labels
    contexts = len(labels.get("class", ())) * len(labels.get("entry", ()))
    for place, (_, who, context, _) in enumerate(content.samples):
        if who >= len(content.whos) or context >= contexts:
            raise UserError(f"{path}: sample {place} names a task, a class or an entry that the file lacks; {_AGAIN}")
    return content


def _samples(run: Path, content: _Content) -> list[Sample]:
    image, kernel = booted_image(run)
    functions = Functions(kernel.symbols, read_map(run / MEMORY_MAP).files, image / "initramfs.cpio", paths.BIN)
    process_classes, entries = (content.labels.get(name, []) for name in ("class", "entry"))
    # One name for the threads that each processor has: `swapper/3`.
    whos = [(pid, re.sub(r"/\d+$", "", process)) for pid, process, _ in content.whos]
    return [
        Sample(
            process=whos[who][1],
            process_class=process_classes[context // len(entries)],
            entry=entries[context % len(entries)],
            function=functions.name(whos[who][0], block),
            count=count,
        )
        for block, who, context, count in content.samples
    ]
