# SPDX-License-Identifier: GPL-2.0-or-later
"""The log's file, written by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from s80lab.analysis.misses.log import MAGIC, RECORD, Who, read_log
from s80lab.base.errors import UserError

TAIL = {
    "line_bytes": 128,
    "cores": 4,
    "labels": {
        "kind": ["ifetch", "load", "store", "walk"],
        "request": ["miss", "upgrade"],
        "source": ["memory", "M"],
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


def test_a_record_has_64_bytes() -> None:
    assert RECORD.itemsize == 64


def test_records_and_tasks_are_read(tmp_path: Path) -> None:
    log = read_log(write(tmp_path / "misses.bin", json.dumps(TAIL).encode()), ["read", "write"])
    assert log.records["pc"].tolist() == [0x1234, 0x1234]
    assert log.whos == [Who(7, "imap", -1), Who(7, "imap", 1)]
    assert log.callers().tolist() == ["imap; user", "imap; write"]
    assert (log.line_bytes, log.cores, log.granule) == (128, 4, 8)


def test_an_empty_log_is_a_log(tmp_path: Path) -> None:
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
def test_a_damaged_log_is_refused(tmp_path: Path, damage: object, refusal: str) -> None:
    path = write(tmp_path / "misses.bin", json.dumps(TAIL).encode())
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match=refusal):
        read_log(path)


def test_an_absent_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_log(tmp_path / "misses.bin")
