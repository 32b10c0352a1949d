# SPDX-License-Identifier: GPL-2.0-or-later
"""The processes of a guest and what they mapped when (docs/reference/interfaces/mappings.md).

    processes = read_processes(path)
    processes.mapping(tgid, address, ns)    the mapping that a process had at an address at a time

The rules are those of `perf`: a later mapping replaces what it overlaps, a fork copies the parent's mappings, exec
removes all. The kernel does not tell of munmap.
"""

from __future__ import annotations

import dataclasses
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.strict import Strict

_LARGEST_FILE = 1 << 32
_AGAIN = "execute the program again"
_TOP = 1 << 64
ANONYMOUS = "[anon]"


@dataclass(frozen=True)
class FileMapping:
    """Part of a file, from `offset` on, at the addresses from begin to end. flags: as in /proc/PID/maps (`r-xp`)."""

    begin: int
    end: int
    flags: str
    path: str
    offset: int
    inode: int

    def offset_of(self, address: int) -> int:
        """The offset in the file of an address."""
        return address - self.begin + self.offset


@dataclass(frozen=True)
class AnonymousMapping:
    """Memory without a file. name: `[heap]`, `[stack]`, `[stack:TID]` of a thread, `[vdso]`, `[vvar]` or `[anon]`."""

    begin: int
    end: int
    flags: str
    name: str


Mapping = FileMapping | AnonymousMapping


@dataclass(frozen=True)
class Object:
    """Memory that a program got from its allocator (malloc, new). caller: the address after the call. ns: when."""

    begin: int
    size: int
    caller: int
    ns: int


@dataclass
class Process:
    """One process. names: (time, name) since it began or executed a program. began: 0 if it began before the model.
    ended: None if it runs at the end; status: as of wait."""

    tgid: int
    parent: int | None
    began: int
    names: list[tuple[int, str]]
    ended: int | None = None
    status: int | None = None
    # (time, mapping); None: exec removed all mappings.
    _changes: list[tuple[int, Mapping | None]] = field(default_factory=list)
    _has_threads: bool = False
    _objects: list[Object] = field(default_factory=list)
    _threads: dict[int, int] = field(default_factory=dict)
    # When the first thread had thread-local data; files that are mapped later have theirs elsewhere.
    _threads_since: int = 0

    @property
    def name(self) -> str:
        """Its last name."""
        return self.names[-1][1]

    def mapping(self, address: int, ns: int) -> Mapping | None:
        """What the process had mapped at an address at a time; None if the kernel told of nothing."""
        boundaries, spans = self._index
        times, mappings = spans[max(bisect_right(boundaries, address) - 1, 0)]
        place = bisect_right(times, ns) - 1
        return mappings[place] if place >= 0 else None

    def files(self) -> Iterator[tuple[int, FileMapping]]:
        """The parts of files that the process ever mapped, and when."""
        yield from ((ns, mapping) for ns, mapping in self._changes if isinstance(mapping, FileMapping))

    def allocated(self, address: int, ns: int) -> Object | None:
        """The latest object that the allocator had given at an address before a time. It may have been freed."""
        found: Object | None = None
        for size, (begins, objects) in self._by_size.items():
            first, last = bisect_right(begins, address - size), bisect_right(begins, address)
            for one in objects[first:last]:
                if address < one.begin + one.size and one.ns <= ns and (found is None or one.ns >= found.ns):
                    found = one
        return found

    @cached_property
    def _by_size(self) -> dict[int, tuple[list[int], list[Object]]]:
        """The objects by address, apart for each power of two that their size does not exceed: few begin so close
        before an address that they may contain it."""
        groups: defaultdict[int, list[Object]] = defaultdict(list)
        for one in self._objects:
            groups[1 << max(one.size - 1, 0).bit_length()].append(one)
        ordered = {size: sorted(several, key=lambda one: one.begin) for size, several in groups.items()}
        return {size: ([one.begin for one in several], several) for size, several in ordered.items()}

    def thread(self, address: int) -> tuple[int, int] | None:
        """The end of the nearest thread-local data at or above an address, and the thread's number."""
        ends = self._thread_ends
        place = bisect_left(ends, address)
        return (ends[place], self._threads[ends[place]]) if place < len(ends) else None

    @cached_property
    def _thread_ends(self) -> list[int]:
        return sorted(self._threads)

    def first_files(self) -> list[str]:
        """The files that the process mapped after its last exec and before it had thread-local data."""
        present = [each for each in self._present() if isinstance(each, FileMapping)]
        times = {id(each): ns for ns, each in self._changes}
        early = [each.path for each in reversed(present) if times[id(each)] <= self._threads_since]
        return list(dict.fromkeys(early))

    def _has_thread(self, ns: int, end: int, tid: int) -> None:
        if end:
            self._threads_since = self._threads_since or ns
            self._threads[end] = tid

    def last_code(self, pc: int) -> FileMapping | None:
        """The last file that the process ever mapped as code at an address."""
        boundaries, spans = self._index
        _, mappings = spans[max(bisect_right(boundaries, pc) - 1, 0)]
        files = (each for each in reversed(mappings) if isinstance(each, FileMapping) and "x" in each.flags)
        return next(files, None)

    def _add(self, ns: int, mapping: Mapping | None) -> None:
        last = self._changes[-1][0] if self._changes else 0
        joined = self._has_threads and isinstance(mapping, AnonymousMapping) and mapping.name == ANONYMOUS
        stacks = self._stacks_in(mapping) if joined and mapping is not None else []
        self._changes += [(max(ns, last), each) for each in (mapping, *stacks)]
        self.__dict__.pop("_index", None)

    def _stacks_in(self, anonymous: Mapping) -> list[AnonymousMapping]:
        """The kernel joins new memory to its neighbours, and tells of the whole: thread stacks in it remain."""
        return [
            each
            for each in self._present()
            if isinstance(each, AnonymousMapping)
            and each.name.startswith("[stack:")
            and each.flags == anonymous.flags
            and anonymous.begin <= each.begin
            and each.end <= anonymous.end
            and each.end - each.begin < anonymous.end - anonymous.begin
        ]

    def _present(self) -> Iterator[Mapping]:
        """The mappings since the last exec, latest first. Later ones may have replaced them."""
        for _, mapping in reversed(self._changes):
            if mapping is None:
                return
            yield mapping

    def _thread_began(self, ns: int, tid: int, stack: int) -> None:
        """The memory at a new thread's stack pointer is its stack, unless that is the process's own."""
        self._has_threads = True
        found = next((each for each in self._present() if each.begin <= stack < each.end), None)
        if isinstance(found, AnonymousMapping) and (found.name == ANONYMOUS or found.name.startswith("[stack:")):
            self._add(ns, dataclasses.replace(found, name=f"[stack:{tid}]"))

    def _inherited(self) -> list[tuple[int, Mapping | None]]:
        """What a child begins with."""
        present = list(self._present())
        return self._changes[len(self._changes) - len(present) :]

    @cached_property
    def _index(self) -> tuple[list[int], list[tuple[list[int], list[Mapping | None]]]]:
        """Addresses at which mappings begin or end; and for each span up to the next one, times and mappings."""
        ends = {end for _, each in self._changes if each is not None for end in (each.begin, each.end)}
        boundaries = sorted({0, *ends})
        place = {address: number for number, address in enumerate(boundaries)}
        spans: list[tuple[list[int], list[Mapping | None]]] = [([], []) for _ in boundaries]
        for ns, mapping in self._changes:
            covered = spans if mapping is None else spans[place[mapping.begin] : place[mapping.end]]
            for times, mappings in covered:
                times.append(ns)
                mappings.append(mapping)
        return boundaries, spans


def _began(process: Process) -> int:
    return process.began


@dataclass(frozen=True)
class Processes:
    """All processes of a run, by tgid; the kernel may give a number again, so each has a list in order of time."""

    by_tgid: dict[int, list[Process]]

    def process(self, tgid: int, ns: int) -> Process | None:
        """The process that had this number at a time; the first one for times before it."""
        found = self.by_tgid.get(tgid, [])
        place = bisect_right(found, ns, key=_began) - 1
        return found[max(place, 0)] if found else None

    def mapping(self, tgid: int, address: int, ns: int) -> Mapping | None:
        """What a process had mapped at an address at a time; None if the kernel told of nothing: the process is older
        than the guest's recording, or the memory grew in its place (mremap)."""
        process = self.process(tgid, ns)
        return process.mapping(address, ns) if process is not None else None

    def code(self, tgid: int, pc: int, ns: int) -> FileMapping | None:
        """The file that has the code at an address; None if there is none.

        QEMU translates code that several processes share only once. Therefore `pc` may be the address at which another
        process maps the code, and the mappings of the others count if the process has no code there.
        """
        own = self.mapping(tgid, pc, ns)
        if own is not None:
            return own if isinstance(own, FileMapping) and "x" in own.flags else None
        for process in (each for several in self.by_tgid.values() for each in several if each.began <= ns):
            found = process.last_code(pc)
            if found is not None:
                return found
        return None

    @cached_property
    def paths(self) -> frozenset[str]:
        """The files of which any process mapped a part."""
        several = (process for each in self.by_tgid.values() for process in each)
        return frozenset(mapping.path for process in several for _, mapping in process.files())

    @cached_property
    def mapped_at(self) -> list[int]:
        """The times at which any process began or changed a mapping: between two of them, `code` and `mapping` give the
        same."""
        several = (process for each in self.by_tgid.values() for process in each)
        return list({ns for process in several for ns in (process.began, *(ns for ns, _ in process._changes))})

    @cached_property
    def allocated_at(self) -> list[int]:
        """The same for objects of allocators."""
        several = (process for each in self.by_tgid.values() for process in each)
        return list({one.ns for process in several for one in process._objects})


def _text(text: str) -> str:
    """The plugin writes each byte of a name as one character."""
    return text.encode("latin-1").decode("utf-8", "replace")


_Text = Annotated[str, Field(pattern=r"^[\x00-\xff]*$"), AfterValidator(_text)]
_Number = Annotated[int, Field(ge=0, lt=_TOP)]


class _Event(Strict):
    ns: _Number
    tgid: _Number
    pid: _Number
    comm: _Text
    tls: _Number = 0


class _Mmap(_Event):
    event: Literal["mmap"]
    begin: _Number
    end: _Number
    offset: _Number
    flags: str = Field(pattern="^[r-][w-][x-][ps]$")
    path: _Text | None = None
    inode: _Number | None = None
    name: _Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> _Mmap:
        if self.begin >= self.end:
            raise ValueError("begin must be below end")
        if (self.path is None) != (self.inode is None) or (self.path is None) == (self.name is None):
            raise ValueError("a mapping needs either path and inode or name")
        return self

    def mapping(self) -> Mapping:
        if self.path is not None and self.inode is not None:
            return FileMapping(self.begin, self.end, self.flags, self.path, self.offset, self.inode)
        return AnonymousMapping(self.begin, self.end, self.flags, self.name or ANONYMOUS)


class _Fork(_Event):
    event: Literal["fork"]
    parent: _Number
    thread: bool
    stack: _Number


class _Exec(_Event):
    event: Literal["exec"]


class _Comm(_Event):
    event: Literal["comm"]


class _Object(Strict):
    event: Literal["object"]
    ns: _Number
    tgid: _Number
    begin: _Number
    size: _Number
    caller: _Number


class _Exit(_Event):
    event: Literal["exit"]
    status: _Number


_EVENT: TypeAdapter[_Mmap | _Fork | _Exec | _Comm | _Exit | _Object] = TypeAdapter(
    Annotated[_Mmap | _Fork | _Exec | _Comm | _Exit | _Object, Field(discriminator="event")]
)


def read_processes(path: Path) -> Processes:
    """Reads a file of mappings. UserError: a line is damaged."""
    found: defaultdict[int, list[Process]] = defaultdict(list)
    for number, line in enumerate(read_regular(path, _LARGEST_FILE, _AGAIN).splitlines(), 1):
        try:
            event = _EVENT.validate_python(json.loads(line))
        except (ValidationError, ValueError) as error:
            reason = error.errors(include_input=False)[0]["msg"] if isinstance(error, ValidationError) else "no JSON"
            raise UserError(f"{path}: line {number} cannot be read ({reason}); {_AGAIN}") from None
        _apply(found, event)
    return Processes(dict(found))


def _apply(found: defaultdict[int, list[Process]], event: _Mmap | _Fork | _Exec | _Comm | _Exit | _Object) -> None:
    if isinstance(event, _Fork) and not event.thread:
        parents = found.get(event.parent, [])
        inherited = parents[-1]._inherited() if parents else []
        threads = bool(parents) and parents[-1]._has_threads
        objects = list(parents[-1]._objects) if parents else []
        names = [(event.ns, event.comm)]
        child = Process(event.tgid, event.parent, event.ns, names, None, None, inherited, threads, objects)
        if parents:
            child._threads_since = parents[-1]._threads_since
            child._has_thread(event.ns, event.tls, event.pid)
        found[event.tgid].append(child)
        return
    if isinstance(event, _Object):
        for process in found.get(event.tgid, [])[-1:]:
            process._objects.append(Object(event.begin, event.size, event.caller, event.ns))
        return
    if event.tgid not in found:  # it is older than the recording
        found[event.tgid].append(Process(event.tgid, None, 0, [(0, event.comm)]))
    process = found[event.tgid][-1]
    if isinstance(event, _Exit):
        process._has_thread(event.ns, event.tls, event.pid)
    match event:
        case _Fork():
            process._thread_began(event.ns, event.pid, event.stack)
            process._has_thread(event.ns, event.tls, event.pid)
        case _Mmap():
            process._add(event.ns, event.mapping())
            process._has_thread(event.ns, event.tls, event.pid)
        case _Exec():
            process._add(event.ns, None)
            process._objects.clear()
            process._threads.clear()
            process._threads_since = 0
        case _Comm() if event.pid == event.tgid:
            process.names.append((event.ns, event.comm))
        case _Exit() if event.pid == event.tgid:
            process.ended, process.status = event.ns, event.status
        case _:
            pass
