# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps what gem5 said: python -m tests.gem5.record RUN_FOLDER/gem5 FOLDER

In FOLDER (of build/recorded/runs or build/reference/gem5): of the statistics the rows that gem5/table.py can use, of
every dump, without the shares of elements; the facts; config.ini with one of each kind of component and without paths.
`trim_transitions` reduces a dump to the rows that s80lab.gem5.agree compares.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from s80lab.gem5 import table
from s80lab.gem5.agree.categories import CATEGORIES
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
    "|".join(
        (
            *(table.INSTRUCTIONS, table.OPERATIONS, table.BUSY_FRACTION),
            *(table.OPERATION_TYPE.format(name=name) for names in table.CLASSES.values() for name in names),
            *(table.CONTROL.format(name=name) for name in table.BRANCHES.values()),
        )
    )
)
RECORDED = frozenset(row for category in CATEGORIES for row in category.ruby + category.ruby_less)
"""The transitions that s80lab.gem5.agree compares."""
_TRANSITION = re.compile(r"\S*?(L1Cache_Controller|Directory_Controller)\.(\w+)\.(\w+)(?:::(\w+))?")


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


def short_row(line: str) -> str:
    """The row without its description, without the spaces that align it, and without the shares of elements."""
    words = line.split("#")[0].split("(Unspecified)")[0].split()
    return " ".join(word for word in words if not word.endswith("%"))


def trim_transitions(text: str, keys: Iterable[str]) -> str:
    """The last dump of the text, reduced to the rows of these keys (`CONTROLLER.STATE.EVENT`)."""
    wanted = set(keys)
    kept = []
    for line in text[text.rindex(BEGIN) :].splitlines():
        match = _TRANSITION.match(line)
        if line in (BEGIN, END) or (match and ".".join(match.group(1, 2, 3)) in wanted and match[4] in (None, "total")):
            kept.append(line if line in (BEGIN, END) else short_row(line))
    return "\n".join(kept) + "\n"


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
        rows = [line.rstrip() if line.startswith("-") else short_row(line) for line in file if keep(line)]
    (target / "stats.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shutil.copyfile(out / "facts.json", target / "facts.json")
    write(target / "config.ini", trimmed_config((out / "config.ini").read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]))
