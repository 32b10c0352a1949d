# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of misses, written by hand or added up from a log."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.miss_log import LABELS, LINE, Records, details, log_of, named, record, small_log

from s80lab.analysis.misses.log import Log, Who
from s80lab.analysis.misses.run import group
from s80lab.analysis.misses.sharing import PATTERNS, lines_of
from s80lab.analysis.misses.sums import MAGIC, RECORD, SEVERAL, read_sums
from s80lab.base.errors import UserError

KEY = RECORD.names[: RECORD.names.index("count")] if RECORD.names else ()


def summed(log: Log) -> Records:
    """The sums of a log, as the plugin makes them."""
    sums: dict[tuple[int, ...], Records] = {}
    for row, own in zip(log.records, log.own_reads, strict=True):
        key = tuple(int(row[name]) if name in row.dtype.names else 0 for name in KEY)
        one = sums.setdefault(key, np.zeros(1, dtype=RECORD))
        for name, value in zip(KEY, key, strict=True):
            one[name] = value
        one["first_ns"] = row["time_ns"] if not one["count"][0] else one["first_ns"]
        one["last_ns"] = row["time_ns"]
        for name, value in (("count", 1), ("stall", row["stall"]), ("own_reads", own)):
            one[name] += np.uint64(value)
        for name in ("reads", "writes", "foreign"):
            one[name] |= row[name]
    return np.concatenate([*sums.values()]) if sums else np.zeros(0, dtype=RECORD)


def write(path: Path, records: Records, **changes: object) -> Path:
    page = int(records["count"][records["range"] == 12].sum())
    line = int(records["count"][records["range"] == 0].sum())
    tail = {
        "line_bytes": LINE,
        "cores": 4,
        "labels": LABELS,
        "complete": True,
        "regions": 1,
        "limit": 1000,
        "requests": {"line": line, "page": page, "range": int(records["count"].sum()) - line - page},
        "whos": [[7, "imap", -1, 7], [7, "imap", 0, 7], [9, "lmtp", -1, 8]],
        **changes,
    }
    text = json.dumps(tail).encode()
    path.write_bytes(MAGIC + records.tobytes() + text + struct.pack("<Q", len(text)))
    return path


def changed(**values: int) -> Records:
    records = summed(small_log())
    for name, value in values.items():
        records[name][0] = value
    return records


def test_record_has_88_bytes() -> None:
    assert RECORD.itemsize == 88


def test_sums_are_read(tmp_path: Path) -> None:
    log = small_log()
    sums = read_sums(write(tmp_path / "sums.bin", summed(log), complete=False, regions=2), requests=7)
    assert sums.total == len(log.records) == 7
    assert sums.whos[2] == Who(9, "lmtp", -1, 8)
    assert (sums.complete, sums.regions, sums.limit) == (False, 2, 1000)
    assert sums.tgid.tolist() == [7, 7, 7, 8, 7, 7, 7]


def test_sums_give_the_tables_of_their_log(tmp_path: Path) -> None:
    once = small_log()
    log = log_of(*[once.records[[i]] for i in (0, 0, 1, 2, 2, 1, 2, 3, 4, 4, 5, 6, 0)])
    sums = read_sums(write(tmp_path / "sums.bin", summed(log)))
    assert len(sums.records) < len(log.records)
    of_log = group(log, named(log), details(log), lines_of(log))
    of_sums = group(sums, named(sums), details(sums), lines_of(sums))
    assert list(of_sums.lines) == list(of_log.lines)
    assert [list(row) for row in of_sums.accesses] == [list(row) for row in of_log.accesses]
    assert list(of_sums.texts) == list(of_log.texts)


def test_migratory_line_is_found_from_sums(tmp_path: Path) -> None:
    by = [(0, "load"), (0, "store"), (1, "load"), (1, "store"), (0, "load"), (0, "store")]
    log = log_of(*(record(5, core, kind, "M") for core, kind in by))
    lines = lines_of(read_sums(write(tmp_path / "sums.bin", summed(log))))
    assert [PATTERNS[number] for number in lines.pattern.tolist()] == ["migratory"]


def test_ranges_are_apart_from_lines(tmp_path: Path) -> None:
    records = changed(physical=(1 << 64) - 1, range=12, address=0x7000, who=(1 << 32) - 1)
    sums = read_sums(write(tmp_path / "sums.bin", records))
    assert len(sums.lines.records) == len(records) - 1
    (record,) = sums.records[~sums.exact]
    assert record["address"] == 0x7000 and sums.whos[int(record["who"])].comm == SEVERAL


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"physical": 1}, "physical"),
        ({"range": 12}, "physical"),
        ({"range": 13, "physical": (1 << 64) - 1}, "range"),
        ({"who": 3}, "who"),
        ({"core": 4}, "core"),
        ({"count": 0, "own_reads": 0}, "count"),
        ({"own_reads": 9}, "own_reads"),
        ({"first_ns": 9}, "last_ns"),
        ({"zero_too": 1}, "zero_too"),
    ],
)
def test_impossible_value_is_refused(tmp_path: Path, values: dict[str, int], column: str) -> None:
    path = write(tmp_path / "sums.bin", changed(**values))
    with pytest.raises(UserError, match=f"record 0: the value .* of `{column}` is not possible"):
        read_sums(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-3],
        lambda content: b"S80MISS1" + content[8:],
        lambda content: content[:8] + content[9:],
    ],
)
def test_incomplete_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = write(tmp_path / "sums.bin", summed(small_log()))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match="is not a complete file of sums of misses"):
        read_sums(path)


def test_wrong_totals_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "sums.bin", summed(small_log()), requests={"line": 6, "page": 0, "range": 0})
    with pytest.raises(UserError, match="differ in the number of requests"):
        read_sums(path)
    path = write(tmp_path / "sums.bin", summed(small_log()))
    with pytest.raises(UserError, match="has 7 requests, but the run counted 8 misses and upgrades"):
        read_sums(path, requests=8)
    path = write(tmp_path / "sums.bin", summed(small_log()), complete="maybe")
    with pytest.raises(UserError, match=r"the description at the end of the file cannot be read \(key `complete`"):
        read_sums(path)
