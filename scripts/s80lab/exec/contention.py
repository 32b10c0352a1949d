# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a program that move between caches: how often, for which code and data, and why. The columns are those
of `perf c2c report`, but nothing is sampled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import distinct
from s80lab.analysis.misses.sharing import PATTERNS, lines_of, supply_of
from s80lab.analysis.misses.sums import Sums
from s80lab.base.vocabulary import LABELS
from s80lab.exec.names import FREED, KERNEL_HALF, NO_ADDRESS, UNNAMED, Code, Data, Names
from s80lab.exec.shape import RELAY

MOST_LINES = 1000
"""Lines that are named and kept, those with the most transfers and upgrades first."""
AT_ONCE = 250_000
"""Records whose data and code are looked up together, so that the memory for it is bounded."""
FALSE, READ_MOSTLY = "false sharing", "read-mostly"
RARELY = 0.01
"""Share of a line's writes below which its advice does not name a variable."""
CLEARED = Data("kernel", "kernel: page that is cleared")
COPIED = Data("kernel", "kernel: memory that is copied")
_COPY = ("copy_user", "copy_page", "memcpy")
_PAGE = 12
# Linux, Documentation/arch/x86/x86_64/mm.rst: the direct mapping of all memory, whose begin may be random.
_DIRECT = range(0xFFFF_8880_0000_0000, 0xFFFF_C880_0000_0000)


@dataclass(frozen=True)
class Access:
    """One kind of access to a line. offset: of its first byte in the line. data: the variable with its field. code:
    the function. processors: those that did it. loads, stores: misses that another cache serviced. upgrades: stores
    whose line other caches held. states: loads and stores by the state of the supplier. true, false: those with true
    and with false sharing."""

    offset: int
    data: str
    declared: str
    process: str
    code: str
    source: str
    processors: Sequence[int]
    loads: int
    stores: int
    upgrades: int
    stall_cycles: int
    states: Mapping[str, int]
    true: int
    false: int


@dataclass(frozen=True)
class Line:
    """A line, by its physical address. kind: of sharing. states: transfers by the state of the supplier. false:
    coherence misses in which no other processor had written the accessed bytes."""

    physical: int
    kind: str
    transfers: int
    upgrades: int
    memory: int
    stall_cycles: int
    true: int
    false: int
    states: Mapping[str, int]
    readers: Sequence[int]
    writers: Sequence[int]
    accesses: Sequence[Access]

    @property
    def data(self) -> list[str]:
        """What the line holds, the most contended first."""
        sums: Counter[str] = Counter()
        for access in self.accesses:
            sums[access.data] += access.loads + access.stores + access.upgrades
        return [name for name, _ in sums.most_common()]

    @property
    def advice(self) -> str:
        """What to do about false sharing; else empty."""
        if self.kind != FALSE:
            return ""
        writes: Counter[str] = Counter()
        for access in self.accesses:
            writes[access.data] += access.stores + access.upgrades
        least = RARELY * sum(writes.values())
        names = [name for name, count in writes.most_common(3) if count > least] or self.data[:2]
        if all(name.startswith(("[", UNNAMED)) for name in names):
            by = Counter[str]()
            for access in self.accesses:
                by[access.code] += access.stores + access.upgrades
            users = " and ".join(name for name, count in by.most_common(2) if count)
            return (
                f"different processors use different bytes of this line of {names[0]}, where no variable is known: see "
                f"what {users or 'its functions'} keep there"
            )
        alone = len(names) == 1
        return (
            f"different processors use different bytes of this line: give {' and '.join(names)} "
            f"{'a line of its own' if alone else 'lines of their own'}"
        )


@dataclass(frozen=True)
class Sum:
    """Requests of one function or variable. misses: all L2 misses; transfers: those that another cache serviced."""

    name: str
    misses: int
    transfers: int
    upgrades: int
    false: int
    stall_cycles: int


@dataclass(frozen=True)
class Contention:
    """lines: the most contended ones. data: by variable; fields: by variable with its field. transfers, upgrades: of
    all lines. attributed: share of all requests whose function and data are named. exact: share whose line is
    known. supply: for each core that missed (row), the misses that each core's cache serviced (column). stacks: stall
    cycles by process, function and data."""

    lines: Sequence[Line]
    functions: Sequence[Sum]
    data: Sequence[Sum]
    fields: Sequence[Sum]
    number: int
    transfers: int
    upgrades: int
    attributed: float
    exact: float
    supply: Sequence[Sequence[int]]
    stacks: Mapping[tuple[str, str, str], int]

    def record(self) -> dict[str, Any]:
        """All but the stacks, which have a file of their own."""
        found = asdict(replace(self, stacks={}))
        del found["stacks"]
        return found


def contention_of(sums: Sums, names: Names) -> Contention:
    """The contended lines, and the sums by function and data. The relay of the program's output is left out."""
    sums = _without(sums, RELAY)
    records = sums.records
    moved = sums.by_cache | ~sums.misses
    weights = np.where(moved, records["count"], 0)
    exact = sums.lines
    shared = lines_of(exact)
    per_line = np.bincount(
        shared.line,
        weights=np.where(exact.by_cache | ~exact.misses, exact.records["count"], 0),
        minlength=len(shared.numbers),
    )
    top = [int(line) for line in np.argsort(-per_line, kind="stable")[:MOST_LINES] if per_line[line] > 0]
    rows = _rows_by_line(shared.line, top)
    tables = _Tables.from_sums(sums, names)
    several = np.concatenate([rows[line] for line in top]) if top else np.zeros(0, dtype=np.int64)
    named_rows = iter(zip(*_named(exact, several, names), strict=True))  # one search for all lines
    lines = [
        _line(
            replace(exact, records=exact.records[rows[line]]),
            int(shared.numbers[line]),
            PATTERNS[int(shared.pattern[line])],
            [next(named_rows) for _ in rows[line]],
        )
        for line in top
    ]
    total = int(records["count"].sum())
    return Contention(
        lines=lines,
        functions=_sums(sums, tables.functions),
        data=_sums(sums, tables.data),
        fields=_sums(sums, tables.fields),
        number=int((per_line > 0).sum()),
        transfers=int(np.where(sums.by_cache, records["count"], 0).sum()),
        upgrades=int(np.where(~sums.misses, records["count"], 0).sum()),
        attributed=float(records["count"][tables.known].sum() / total) if total else 1.0,
        exact=float(weights[sums.exact].sum() / weights.sum()) if weights.sum() else 1.0,
        supply=supply_of(sums),
        stacks=_stacks(sums, tables),
    )


def _stacks(sums: Sums, tables: _Tables) -> dict[tuple[str, str, str], int]:
    """Stall cycles by process, function and data."""
    processes: dict[str, int] = {}
    process = np.array([processes.setdefault(who.comm, len(processes)) for who in sums.whos], dtype=np.int64)
    found = distinct(process[sums.records["who"]], tables.functions.index, tables.data.index)
    stalls = np.bincount(found.index, weights=sums.records["stall"], minlength=len(found.rows)).astype(np.int64)
    texts = [list(names) for names in (processes, tables.functions.names, tables.data.names)]
    return {
        (texts[0][who], texts[1][function], texts[2][data]): stall
        for (who, function, data), stall in zip(found.rows, stalls.tolist(), strict=True)
    }


@dataclass
class _Column:
    """A name of each record, as an index into `names`."""

    index: NDArray[np.int64]
    names: dict[str, int] = field(default_factory=dict)

    def put(self, rows: slice, names: Iterable[str]) -> None:
        self.index[rows] = [self.names.setdefault(name, len(self.names)) for name in names]


@dataclass(frozen=True)
class _Tables:
    """Function, data and field of all records. known: whether function and data have names."""

    functions: _Column
    data: _Column
    fields: _Column
    known: NDArray[np.bool_]

    @classmethod
    def from_sums(cls, sums: Sums, names: Names) -> _Tables:
        many = len(sums.records)
        functions, whole, fields = (_Column(np.zeros(many, dtype=np.int64)) for _ in range(3))
        known = np.zeros(many, dtype=bool)
        for begin in range(0, many, AT_ONCE):
            rows = slice(begin, min(begin + AT_ONCE, many))
            code, data = _named(sums, np.arange(rows.start, rows.stop), names, lines=False)
            functions.put(rows, (one.named for one in code))
            whole.put(rows, (one.name for one in data))
            fields.put(rows, (one.full for one in data))
            known[rows] = [
                not one.function.startswith(UNNAMED) and what.kind != UNNAMED
                for one, what in zip(code, data, strict=True)
            ]
        return cls(functions, whole, fields, known)


def _without(sums: Sums, name: str) -> Sums:
    """The sums without one program's."""
    own = np.array([who.comm != name for who in sums.whos])
    return replace(sums, records=sums.records[own[sums.records["who"]]])


def _rows_by_line(line: NDArray[np.int64], top: Sequence[int]) -> dict[int, NDArray[np.int64]]:
    """The numbers of the records of each wanted line."""
    order = np.argsort(line, kind="stable")
    begins = np.searchsorted(line[order], top, side="left")
    ends = np.searchsorted(line[order], top, side="right")
    return {one: order[begin:end] for one, begin, end in zip(top, begins, ends, strict=True)}


def _named(sums: Sums, rows: NDArray[np.int64], names: Names, lines: bool = True) -> tuple[list[Code], list[Data]]:
    """Code and data of these records. lines: also the lines of the source of the code."""
    records = sums.records[rows]
    tgid, first = sums.tgid[rows], records["first_ns"]
    # The kernel's code and data have the same names in all processes at all times.
    own_code, own_data = (records[key] < np.uint64(KERNEL_HALF) for key in ("pc", "address"))
    mapped = _since(np.where(own_code, first, 0), names.processes.mapped_at)
    changes = [*names.processes.mapped_at, *names.processes.allocated_at]
    allocated = _since(np.where(own_data, first, 0), changes)
    physical = _physical(sums, rows).tolist()
    codes = list(zip(np.where(own_code, tgid, 0).tolist(), records["pc"].tolist(), mapped, strict=True))
    size = np.left_shift(np.uint64(1), np.minimum(records["range"], 63).astype(np.uint64)).tolist()
    whose = np.where(own_data, tgid, 0).tolist()
    places = list(zip(whose, records["address"].tolist(), allocated, physical, size, strict=True))
    code, data = names.code(codes, lines), names.data(places)
    found = [code[place] for place in codes]
    return found, [_by_code(data[place], at) for place, at in zip(places, found, strict=True)]


def _physical(sums: Sums, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The physical address of the first byte of each record: also of a page of the kernel's direct mapping."""
    records = sums.records[rows]
    address = records["address"]
    found = np.where(
        records["range"] == 0, records["physical"] + address % np.uint64(sums.line_bytes), np.uint64(NO_ADDRESS)
    )
    pages = (records["range"] == _PAGE) & (address >= np.uint64(_DIRECT.start)) & (address < np.uint64(_DIRECT.stop))
    if pages.any() and (direct := _direct_mapping(sums)) is not None:
        found[pages] = address[pages] - np.uint64(direct)
    return found


def _direct_mapping(sums: Sums) -> int | None:
    """Where the kernel maps all memory, by a record of it with both addresses."""
    exact = sums.lines.records
    own = exact[(exact["address"] >= np.uint64(_DIRECT.start)) & (exact["address"] < np.uint64(_DIRECT.stop))]
    if not len(own):
        return None
    line = np.uint64(sums.line_bytes)
    begins, counts = np.unique(own["address"] // line * line - own["physical"], return_counts=True)
    return int(begins[np.argmax(counts)])


def _since(times: NDArray[np.uint64], changes: Sequence[int]) -> list[int]:
    """For each time the last change before it: equal places so have equal times, and are looked up once."""
    ordered = np.unique(np.array([0, *changes], dtype=np.uint64))
    found: list[int] = ordered[np.searchsorted(ordered, times, side="right") - 1].tolist()
    return found


def _by_code(data: Data, code: Code) -> Data:
    """Memory that was free again at the end may be known by what the kernel did there: it clears a page before it is a
    process's, and copies pages after a fork, and the buffers of sockets and pipes."""
    if data == FREED and code.file == "kernel":
        if code.function.startswith("clear_page"):
            return CLEARED
        if code.function.startswith(_COPY):
            return COPIED
    return data


def _line(sums: Sums, physical: int, pattern: str, names: Sequence[tuple[Code, Data]]) -> Line:
    """sums: those of the line. names: code and data of each record."""
    records = sums.records
    count = records["count"].astype(np.int64)
    code, data = zip(*names, strict=True)
    by_cache, upgrade, stores = sums.by_cache, ~sums.misses, sums.stores
    shared = {how: by_cache & sums.shared(how) for how in ("true", "false")}
    sources = np.array(sums.labels["source"])[records["source"]]
    groups: defaultdict[tuple[int, str, str, str, str, str], list[int]] = defaultdict(list)
    for place in range(len(records)):
        if by_cache[place] or upgrade[place]:
            who = sums.whos[int(records["who"][place])]
            key = (int(sums.offset[place]), data[place].full, data[place].declared, who.comm,
                   code[place].named, code[place].line)  # fmt: skip
            groups[key].append(place)
    accesses = [
        Access(
            *key,
            processors=sorted({int(processor) for processor in records["processor"][places]}),
            loads=int(count[places][by_cache[places] & ~stores[places]].sum()),
            stores=int(count[places][by_cache[places] & stores[places]].sum()),
            upgrades=int(count[places][upgrade[places]].sum()),
            stall_cycles=int(records["stall"][places].sum()),
            states={
                state: int(count[places][(by_cache & (sources == state))[places]].sum()) for state in LABELS["state"]
            },
            true=int(count[places][shared["true"][places]].sum()),
            false=int(count[places][shared["false"][places]].sum()),
        )
        for key, places in groups.items()
    ]
    accesses.sort(key=lambda one: (one.offset, -one.loads - one.stores - one.upgrades))
    true, false = (int(count[sums.misses & sums.shared(how)].sum()) for how in ("true", "false"))
    readers = sorted({int(one) for one in records["core"][~stores]})
    writers = sorted({int(one) for one in records["core"][stores]})
    return Line(
        physical=physical,
        kind=_kind(pattern, true, false),
        transfers=int(count[by_cache].sum()),
        upgrades=int(count[upgrade].sum()),
        memory=int(count[sums.by_memory].sum()),
        stall_cycles=int(records["stall"].sum()),
        true=true,
        false=false,
        states={state: int(count[by_cache & (sources == state)].sum()) for state in LABELS["state"]},
        readers=readers,
        writers=writers,
        accesses=accesses,
    )


def _kind(pattern: str, true: int, false: int) -> str:
    """The kind of sharing of a line."""
    if false > true:
        return FALSE
    return {"several writers": "true sharing", "one processor": "true sharing", "widely read": READ_MOSTLY}.get(
        pattern, pattern
    )


def _sums(sums: Sums, column: _Column) -> list[Sum]:
    """Sums of all requests by name."""
    name_of, numbers = column.index, column.names
    count = sums.records["count"].astype(np.int64)
    columns = [
        np.bincount(name_of, weights=np.where(mask, count, 0), minlength=len(numbers)).astype(np.int64).tolist()
        for mask in (sums.misses, sums.by_cache, ~sums.misses, sums.misses & sums.shared("false"))
    ]
    columns.append(
        np.bincount(name_of, weights=sums.records["stall"], minlength=len(numbers)).astype(np.int64).tolist()
    )
    found = [Sum(name, *values) for name, values in zip(numbers, zip(*columns, strict=True), strict=True)]
    kept = (one for one in found if one.misses or one.upgrades)
    return sorted(kept, key=lambda one: (-one.stall_cycles, one.name))
