# SPDX-License-Identifier: GPL-2.0-or-later
"""The log's file, written by hand."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from tests.miss_log import LINE, log_of, record

from s80lab.analysis.misses.log import MAGIC, RECORD, Who, distinct, read_log
from s80lab.base.errors import UserError

TAIL = {
    "line_bytes": 128,
    "cores": 4,
    "labels": {
        "kind": ["ifetch", "load", "store", "walk"],
        "request": ["miss", "upgrade"],
        "source": ["memory", "M", "O", "E", "S"],
        "reason": ["cold", "capacity", "conflict", "coherence", "none"],
        "sharing": ["none", "true", "false"],
        "class": ["session", "delivery"],
        "entry": ["user", "system_call", "tick"],
    },
    "whos": [[7, "imap", -1], [7, "imap", 1]],
}


def write(path: Path, tail: bytes, records: int = 2) -> Path:
    content = np.zeros(records, dtype=RECORD)
    content["pc"], content["who"] = 0x1234, np.arange(records)
    content["context"] = [0, 1][:records]
    path.write_bytes(MAGIC + content.tobytes() + tail + struct.pack("<Q", len(tail)))
    return path


def test_miss_log_record_has_64_bytes() -> None:
    assert RECORD.itemsize == 64


def test_records_and_tasks_are_read(tmp_path: Path) -> None:
    log = read_log(write(tmp_path / "misses.bin", json.dumps(TAIL).encode()), ["read", "write"])
    assert log.records["pc"].tolist() == [0x1234, 0x1234]
    assert log.whos == [Who(7, "imap", -1), Who(7, "imap", 1)]
    texts, index = log.callers()
    assert [texts[number] for number in index.tolist()] == ["imap; user", "imap; write"]
    assert (log.line_bytes, log.cores, log.granule) == (128, 4, 8)


def test_empty_miss_log_is_read(tmp_path: Path) -> None:
    log = read_log(write(tmp_path / "misses.bin", json.dumps(TAIL).encode(), records=0))
    assert len(log.records) == 0 and not log.misses.any()


@pytest.mark.parametrize(
    ("damage", "refusal"),
    [
        (lambda content: content[:-3], "is not a complete log of misses"),
        (lambda content: b"S80MISS2" + content[8:], "is not a complete log of misses"),
        (lambda content: content[:4], "is not a complete log of misses"),
        (
            lambda content: content.replace(b'"whos"', b'"whom"'),
            "the description at the end of the file cannot be read",
        ),
        (
            lambda content: content.replace(b'{"line', b'}"line'),
            "the description at the end of the file cannot be read",
        ),
    ],
)
def test_damaged_miss_log_is_refused(tmp_path: Path, damage: object, refusal: str) -> None:
    path = write(tmp_path / "misses.bin", json.dumps(TAIL).encode())
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match=refusal):
        read_log(path)


def test_absent_miss_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_log(tmp_path / "misses.bin")


def test_offset_is_that_of_the_first_byte_of_the_access() -> None:
    """Later accesses of the interval are merged into `reads` and `writes`, and do not move the offset."""
    log = log_of(record(2, 0, "load", address=0x7000_0000_011C, reads=0b1001))
    assert log.offset.tolist() == [0x1C]
    assert log.byte.tolist() == [2 * LINE + 0x1C]


def test_offset_of_an_access_that_crosses_into_the_line_is_zero() -> None:
    log = log_of(record(3, 0, "load", address=0x7000_0000_017C, size=8, reads=1 << 15))
    assert log.offset.tolist() == [0]


def test_offset_of_a_page_walk_is_that_of_its_granule() -> None:
    log = log_of(record(2, 0, "walk", address=0x7000_0000_0104, reads=0b1000))
    assert log.granule == 8 and log.offset.tolist() == [24]


def test_distinct_orders_rows_by_column() -> None:
    large = np.array([1 << 63, 5, 1 << 63, 5], dtype=np.uint64)
    found = distinct(large, np.array([3, 1, 3, 0]))
    assert found.rows == [(5, 0), (5, 1), (1 << 63, 3)]
    assert found.index.tolist() == [2, 1, 2, 0]


def test_distinct_of_many_wide_columns_keeps_every_row() -> None:
    columns = [np.array([1 << 19, 0, 7]) + number for number in range(6)]
    found = distinct(*columns)
    assert found.rows == [tuple(first + number for number in range(6)) for first in (0, 7, 1 << 19)]
    assert found.index.tolist() == [2, 0, 1]
    assert distinct(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).rows == []


def edited(**values: object) -> bytes:
    return json.dumps(TAIL | values).encode()


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (edited(line_bytes=0), "key `line_bytes`"),
        (edited(line_bytes=100), "line_bytes = 100 must be a power of two"),
        (edited(line_bytes=-128), "key `line_bytes`"),
        (edited(line_bytes=1 << 70), "key `line_bytes`"),
        (edited(cores=0), "key `cores`"),
        (edited(cores=10**9), "key `cores`"),
        (edited(whos=[[10**30, "imap", -1]] * 2), "key `whos.0.0`"),
        (edited(whos=[[7, None, -1]] * 2), "key `whos.0.1`"),
        (edited(labels={}), "labels.kind must contain ifetch"),
        (b"[" * 50_000, "cannot be read"),
        (b"5", "cannot be read"),
    ],
)
def test_description_that_the_plugin_does_not_write_is_refused(tmp_path: Path, tail: bytes, reason: str) -> None:
    path = write(tmp_path / "misses.bin", tail)
    with pytest.raises(UserError, match="the description at the end of the file cannot be read") as refused:
        read_log(path)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("who", 4294967295),
        ("core", 255),
        ("processor", 32),
        ("kind", 255),
        ("request", 2),
        ("source", 200),
        ("reason", 99),
        ("sharing", 3),
        ("context", 6),
        ("supplier", 4),
        ("physical", (1 << 64) - 1),
        ("physical", 64),
        ("holders", 1 << 4),
        ("zero", 1),
    ],
)
def test_value_that_the_plugin_does_not_write_is_refused(tmp_path: Path, column: str, value: int) -> None:
    path = write(tmp_path / "misses.bin", edited())
    content = bytearray(path.read_bytes())
    assert read_log(path).records["who"].tolist() == [0, 1]
    second = np.frombuffer(content, dtype=RECORD, count=1, offset=len(MAGIC) + RECORD.itemsize)
    second[column] = value
    path.write_bytes(content)
    with pytest.raises(UserError, match=f"record 1: the value {value} of `{column}` is not possible"):
        read_log(path)


def test_log_of_another_length_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "misses.bin", edited())
    assert len(read_log(path, records=2).records) == 2
    with pytest.raises(UserError, match="has 2 records, but the run counted 3 misses and upgrades"):
        read_log(path, records=3)


def test_pipe_as_a_log_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "misses.bin")
    with pytest.raises(UserError, match="is a pipe or a device"):
        read_log(tmp_path / "misses.bin")
