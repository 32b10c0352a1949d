# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what gem5 said: python -m tests.gem5.record RUN_FOLDER/gem5 FOLDER

In FOLDER (of build/recorded/runs or build/reference/gem5): of the statistics the rows that gem5/table.py can use, of
every dump; the facts; config.ini with one of each kind of component and without paths.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from s80lab.gem5 import table
from s80lab.gem5.stats import BEGIN, END
from s80lab.trace.files import write

_PREFIXES = (
    table.CACHE,
    table.DIRECTORY,
    f"{table.SYSTEM}RequestTypeMachineType.",
    "board.work_item_type",
    "sim",
    "host",
)
_PARTS = ("::samples", "::mean")
_PROCESSOR = re.compile(
    table.PROCESSOR + r"(commitStats0\.(numInsts|numOps|committedInstType::\w+|committedControl::\w+)"
    r"|exec_context\.thread_0\.notIdleFraction)"
)


def keep(line: str) -> bool:
    """Whether the row may be used."""
    if line.startswith((BEGIN, END)):
        return True
    name = line.split(maxsplit=1)[0] if line.strip() else ""
    if "hist" in name:
        return name.startswith(_PREFIXES) and name.endswith(_PARTS)
    if name.startswith((table.CACHE, table.DIRECTORY)) and "::" in name:
        return False  # the elements of a vector, which stand in its row too
    return name.startswith(_PREFIXES) or _PROCESSOR.fullmatch(name) is not None


def _short(line: str) -> str:
    """The row without its description and without the spaces that align it."""
    return " ".join(line.split("#")[0].split())


def first_of_its_kind(section: str) -> bool:
    """Components that differ from another in their number alone say nothing new; nor do the network's buffers."""
    numbers = [int(number) for number in re.findall(r"[a-z_](\d+)(?=[.\]])", section)]
    return not any(numbers) and ".network." not in section


def trimmed_config(text: str) -> str:
    """The sections of the first components, without paths of the machine that it ran on."""
    sections = [part for part in re.split(r"(?m)^(?=\[)", text) if first_of_its_kind(part.partition("\n")[0])]
    return re.sub(r"/\S*/", "", "".join(sections))


def record(out: Path, target: Path) -> None:
    """Trims one run's output into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    with (out / "stats.txt").open(encoding="utf-8") as file:
        rows = [line.rstrip() if line.startswith("-") else _short(line) for line in file if keep(line)]
    (target / "stats.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shutil.copyfile(out / "facts.json", target / "facts.json")
    write(target / "config.ini", trimmed_config((out / "config.ini").read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]))
