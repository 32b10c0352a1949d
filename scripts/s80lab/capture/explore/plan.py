# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of an exploration's replays, and the plan file that keeps it.

A list has one entry per design and capture, sorted by the hash of all inputs of the replay. To find the hashes, every
design must be resolved. A plan file (docs/reference/interfaces/shards.md) keeps the result, so that each shard resolves
only its own designs. A shard compares their hashes with the plan, and refuses a plan whose inputs have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import FailFast, Field, ValidationError

from s80lab.base.errors import UserError
from s80lab.base.files import read_regular, write_file
from s80lab.base.hashing import value_hash
from s80lab.base.strict import Strict, short_path
from s80lab.base.version import __version__
from s80lab.capture.design import Design
from s80lab.capture.explore.grid import Point, PointResolver
from s80lab.capture.replay import design_key, folder_name
from s80lab.capture.store import Capture, Form
from s80lab.config.grid import MOST_RUNS, Axis, Grid, check_size

PLANS = "plans"
"""The folder of results in which `s80lab batch` writes plans."""
LARGEST = 32 << 20
"""Largest size of a plan file in bytes."""
LEAST_BYTES = 16
"""Bytes per comma of every plan. A file with more commas is not a plan, and parsing it would take gigabytes."""
AGAIN = "remove the file, and repeat the command with --vary to write a new plan"


class PlannedCapture(Strict):
    """A capture of the plan. sha256: of its file."""

    name: str
    form: Form
    sha256: str


class Entry(Strict):
    """One replay. hash: of all its inputs. capture: its place among the captures. job: the design in words. run: the
    name of the run folder. values: the value on each axis of the grid."""

    hash: str
    capture: int
    job: str
    run: str
    values: dict[str, str]


class Varied(Strict):
    """The grid as the options --vary, --machine and --set name it."""

    vary: dict[str, Annotated[list[str], FailFast()]]
    machine: str | None = None
    settings: tuple[str, ...] = ()

    @classmethod
    def of_options(cls, grid: Grid, machine: str | None, settings: Sequence[str]) -> Varied:
        return cls(vary={axis.key: list(axis.values) for axis in grid.axes}, machine=machine, settings=tuple(settings))

    @property
    def grid(self) -> Grid:
        return Grid(tuple(Axis(key, tuple(values)) for key, values in self.vary.items()))

    @property
    def sha256(self) -> str:
        """The hash of the grid; the order of its axes and values does not matter."""
        return value_hash([{key: sorted(values) for key, values in self.vary.items()}, self.machine, self.settings])


class ReplayList(Strict):
    """The content of a plan file.

    list: hash of the hashes of all entries, which every host computes from equal inputs. sha256: hash of everything
    else, also of the words and the names in the entries.
    """

    schema_version: Literal[2] = 2
    s80lab: str = __version__
    list: str
    captures: Annotated[tuple[PlannedCapture, ...], FailFast(), Field(min_length=1)]
    grid: Varied
    grid_sha256: str
    entries: Annotated[tuple[Entry, ...], FailFast(), Field(min_length=1, max_length=MOST_RUNS)]
    sha256: str = ""

    def content_hash(self) -> str:
        """What `sha256` must be."""
        return value_hash(self.model_dump(mode="json", exclude={"sha256"}))


@dataclass(frozen=True)
class Replays:
    """The list of the command line or of a plan file.

    resolved: the designs by hash, if the command has resolved all of them. where: the plan file, for messages.
    """

    content: ReplayList
    captures: Sequence[Capture]
    resolved: Mapping[str, Design]
    where: str = ""

    @property
    def entries(self) -> dict[str, Entry]:
        """All entries by hash, in the order of the list."""
        return {entry.hash: entry for entry in self.content.entries}

    def designs(self, entries: Iterable[Entry]) -> list[tuple[Capture, Design]]:
        """The captures and designs of these entries."""
        wanted = list(entries)
        resolved = self.resolved or self._resolve(wanted)
        return [(self.captures[entry.capture], resolved[entry.hash]) for entry in wanted]

    def _resolve(self, entries: Sequence[Entry]) -> dict[str, Design]:
        """The designs of these entries, by hash. UserError if one has another hash than in the plan."""
        resolvers = [_resolver(capture, self.content.grid) for capture in self.captures]
        found = {}
        for entry in entries:
            (point,) = resolvers[entry.capture].resolve([entry.values])
            if design_key(self.captures[entry.capture], point.design) != entry.hash:
                raise UserError(
                    f"{self.where}: the design `{entry.job}` has another hash now, because s80-replay, a protocol or a "
                    f"machine file has changed since s80lab {self.content.s80lab} wrote the plan; {AGAIN}"
                )
            found[entry.hash] = point.design
        return found


def make_list(captures: Sequence[Capture], varied: Varied) -> Replays:
    """Resolve every design of the grid for every capture. UserError for the first invalid design."""
    check_size(varied.grid.size, "replay", len(captures))
    found: dict[str, tuple[int, Point]] = {}
    for place, capture in enumerate(captures):
        for point in _resolver(capture, varied).resolve(varied.grid.points()):
            found.setdefault(design_key(capture, point.design), (place, point))
    several = len(captures) > 1
    entries = []
    for key, (place, point) in sorted(found.items()):
        capture, design = captures[place], point.design
        job = f"{capture.name}: {design.label}" if several else design.label
        run = folder_name(capture, design, key)
        # Values that pydantic has validated already are not validated again.
        entries.append(Entry.model_construct(hash=key, capture=place, job=job, run=run, values=dict(point.values)))
    content = ReplayList(
        list=value_hash(sorted(found)),
        captures=tuple(PlannedCapture(name=one.name, form=one.form, sha256=one.sha256) for one in captures),
        grid=varied,
        grid_sha256=varied.sha256,
        entries=tuple(entries),
    )
    return Replays(content, captures, {key: point.design for key, (_, point) in found.items()})


def write_plan(path: Path, replays: Replays) -> None:
    """Write the list to a file, completely or not at all. UserError if `load_plan` would refuse the file."""
    content = replays.content.model_copy(update={"sha256": replays.content.content_hash()})
    text = content.model_dump_json(indent=1) + "\n"
    if len(text.encode()) > LARGEST:
        raise UserError(f"{_where(path)}: the plan would be larger than {LARGEST >> 20} MiB; make a smaller grid")
    write_file(path, text)


def load_plan(path: Path) -> ReplayList:
    """The content of a plan file. UserError if the file is not a plan."""
    where = _where(path)
    try:
        text = read_regular(path, LARGEST)
    except UserError as error:
        raise UserError(f"--plan {error}") from None
    if text.count(b",") * LEAST_BYTES > len(text):
        raise UserError(f"{where}: is not a plan of this version of s80lab; name another file")
    try:
        content = ReplayList.model_validate_json(text)
    except ValidationError as failure:
        key = ".".join(map(str, failure.errors()[0]["loc"]))
        at = f" (key `{key}`)" if key else ""
        raise UserError(f"{where}: is not a plan of this version of s80lab{at}; name another file") from None
    hashes = [entry.hash for entry in content.entries]
    unchanged = (
        content.sha256 == content.content_hash()
        and content.list == value_hash(hashes)
        and content.grid_sha256 == content.grid.sha256
    )
    if not unchanged:
        raise UserError(f"{where}: the file has been changed since s80lab wrote it; {AGAIN}")
    if hashes != sorted(set(hashes)) or not all(_is_right(entry, content) for entry in content.entries):
        raise UserError(f"{where}: an entry of the plan contradicts the captures or the grid of the plan; {AGAIN}")
    return content


def _is_right(entry: Entry, content: ReplayList) -> bool:
    """Whether the entry can be one of these captures and of this grid. Its hash is compared when the design is
    resolved."""
    if not 0 <= entry.capture < len(content.captures) or entry.values.keys() != content.grid.vary.keys():
        return False
    of_grid = all(value in content.grid.vary[key] for key, value in entry.values.items())
    capture = content.captures[entry.capture]
    named = entry.run.startswith(f"replay-{capture.name}-{capture.form}-") and entry.run.endswith(f"-{entry.hash[:8]}")
    return of_grid and named and "/" not in entry.run


def _where(path: Path) -> str:
    return f"--plan {short_path(path)}"


def read_plan(path: Path, captures: Sequence[Capture], asked: Varied | None) -> Replays:
    """The list of a plan file.

    asked: the grid of the command line; None if the command line names none. UserError if the file is not a plan, if
    it is a plan of another grid or of other captures, or if a design of each protocol and machine has another hash now.
    """
    content, where = load_plan(path), _where(path)
    if asked is not None and asked.sha256 != content.grid_sha256:
        raise UserError(
            f"{where}: the plan is of another grid ({content.grid.grid}); omit --vary, --machine and "
            "--set, or name another file"
        )
    own = [(one.form, one.sha256) for one in captures]
    if own != [(one.form, one.sha256) for one in content.captures]:
        named = ", ".join(f"{one.name} ({one.form}, {one.sha256[:8]})" for one in content.captures)
        given = ", ".join(f"{one.name} ({one.form}, {one.sha256[:8]})" for one in captures)
        raise UserError(f"{where}: the plan is of the capture {named}, not of {given}; {AGAIN}")
    replays = Replays(content, captures, {}, where)
    kinds = {
        (entry.capture, entry.values.get("protocol"), entry.values.get("machine")): entry for entry in content.entries
    }
    replays.designs(kinds.values())
    return replays


def _resolver(capture: Capture, varied: Varied) -> PointResolver:
    return PointResolver(capture, varied.machine, varied.settings)
