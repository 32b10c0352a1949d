# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes out to another simulator's format and comes back is the same, but for what the format is said to lose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s80lab.base.errors import UserError
from s80lab.trace import text
from s80lab.trace.formats import exchange
from s80lab.trace.formats.champsim import CHAMPSIM
from s80lab.trace.formats.din import DIN
from s80lab.trace.formats.exchange import Format
from s80lab.trace.formats.gem5 import GEM5
from s80lab.trace.order import DTYPE, ENTRIES, LAST_LINE, Op, Order, make

LINE_BYTES = 128


def there_and_back(order: Order, form: Format, folder: Path, *, compress: bool = False) -> Order:
    return exchange.load(exchange.export(order, form, folder, LINE_BYTES, compress=compress), form, LINE_BYTES)


def of(order: Order, processor: int) -> Order:
    mine: Order = order[order["processor"] == processor]
    return mine


def without_walks(order: Order) -> Order:
    plain = order.copy()
    plain["op"][plain["op"] == Op.WALK] = Op.LOAD
    return plain


@pytest.mark.parametrize("compress", [False, True])
def test_gem5_keeps_order_ticks_ops_and_privilege(drawn: Order, tmp_path: Path, compress: bool) -> None:
    back = there_and_back(drawn, GEM5, tmp_path, compress=compress)
    for column in ("tick", "line", "processor", "op"):
        assert (back[column] == drawn[column]).all(), column
    assert ((back["context"] % ENTRIES > 0) == (drawn["context"] % ENTRIES > 0)).all()


def test_din_keeps_each_processors_accesses_walks_as_loads(drawn: Order, tmp_path: Path) -> None:
    back = there_and_back(drawn, DIN, tmp_path)
    for processor in range(5):
        mine, kept = of(without_walks(drawn), processor), of(back, processor)
        assert (kept["line"] == mine["line"]).all()
        assert (kept["op"] == mine["op"]).all()


def test_champsim_loses_only_a_second_fetch_of_a_line_in_a_row(drawn: Order, tmp_path: Path) -> None:
    back = there_and_back(drawn, CHAMPSIM, tmp_path)
    for processor in range(5):
        mine, kept = of(without_walks(drawn), processor), of(back, processor)
        fetched = -1
        expected = []
        for op, line in mine[["op", "line"]].tolist():
            if op != Op.IFETCH or line != fetched:
                expected.append((op, line))
            fetched = line if op == Op.IFETCH else fetched
        assert kept[["op", "line"]].tolist() == expected


def test_text_keeps_order_cores_and_lines(drawn: Order) -> None:
    drawn["line"] //= 2  # inside what a text trace's reader accepts at 64 bytes a line
    back = text.parse(text.text(drawn, 64), "a text").order(64)
    assert (back["line"] == drawn["line"]).all()
    assert (back["processor"] == drawn["processor"]).all()
    assert (back["op"] == without_walks(drawn)["op"]).all()


def test_files_without_ticks_are_merged_in_turn() -> None:
    parts = [make(p, Op.LOAD, [10 * p, 10 * p + 1]) for p in range(3)]
    assert exchange.merge(parts, timed=False)["line"].tolist() == [0, 10, 20, 1, 11, 21]


def test_access_across_two_lines_touches_both_lines() -> None:
    address, size = np.array([3 * 128 + 100, 640], np.uint64), np.array([60, 4], np.uint64)
    line, owner = exchange.lines_of(address, size, LINE_BYTES, "x")
    assert line.tolist() == [3, 4, 5]
    assert owner.tolist() == [0, 0, 1]


def test_packets_are_what_protocol_buffers_would_write() -> None:
    content = GEM5.encode(make(0, Op.IFETCH, [2], 300), LINE_BYTES)
    assert content == (
        b"gem5"
        + b"\x0f\x0a\x06s80lab\x18\x80\xa0\x94\xa5\x8d\x1d"  # obj_id, tick_freq = 10^12
        + b"\x0d\x08\xac\x02\x10\x01\x18\x80\x02\x20\x04\x28\x80\x02"  # tick 300, read, address 256, 4 bytes, fetch
    )


def test_champsim_record_has_64_bytes_and_the_load_first() -> None:
    record = CHAMPSIM.encode(make(0, [Op.IFETCH, Op.LOAD], [1, 2]), LINE_BYTES)[64:]
    assert len(record) == 64
    assert int.from_bytes(record[:8], "little") == LINE_BYTES + 4
    assert int.from_bytes(record[32:40], "little") == 2 * LINE_BYTES + 4


@pytest.mark.parametrize(
    ("form", "content", "complaint"),
    [
        (GEM5, b"gzip", "does not begin with `gem5`"),
        (GEM5, b"gem5", "ends before the end of its header"),
        (GEM5, b"gem5\x08\x0a\x01x\x18\xe8\x07", "truncated"),
        (GEM5, b"gem5\x06\x0a\x01x\x18\xe8\x07", "ticks per second"),
        (GEM5, GEM5.encode(make(0, Op.LOAD, [1]), 128)[:-1], "truncated"),
        (GEM5, GEM5.encode(make(0, Op.LOAD, [1]), 128).replace(b"\x10\x01", b"\x10\x11"), r"UpgradeReq \(17\)"),
        (GEM5, b"gem5\x0f\x0a\x06s80lab\x18\x80\xa0\x94\xa5\x8d\x1d\x04\x08\x01\x10\x01", "has no tick, cmd"),
        (CHAMPSIM, b"\0" * 65, "not a multiple of 64-byte records"),
        (CHAMPSIM, b"\0" * 8 + b"\2" + b"\0" * 55, "branch flag"),
        (CHAMPSIM, b"\xff" * 8 + b"\0" * 56, "beyond"),
        (DIN, b"7 100\n", "line 1: unknown label `7`"),
        (DIN, b"0 100\n\n1 xyz\n", "line 3: the label has no hexadecimal address"),
        (DIN, b"0 100\n0 8000000000\n", "access 1 has the address 0x8000000000, beyond 0x7fffffff80"),
    ],
)
def test_malformed_trace_file_is_refused(form: Format, content: bytes, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        form.decode(content, LINE_BYTES, "the file")


def test_highest_line_number_survives_export(tmp_path: Path) -> None:
    for form in (GEM5, CHAMPSIM, DIN):
        back = there_and_back(make(31, Op.STORE, [LAST_LINE]), form, tmp_path / form.name)
        assert back["line"].tolist() == [LAST_LINE]
        assert back["processor"].tolist() == [31]


def test_processors_follow_names_or_places() -> None:
    assert exchange.processors_of([Path("cpu03.din"), Path("cpu01.din")]) == [3, 1]
    assert exchange.processors_of([Path("a.din"), Path("cpu07.din")]) == [0, 1]
    with pytest.raises(UserError, match="mean processor 3"):
        exchange.processors_of([Path("cpu03.din"), Path("cpu3.trc")])
    with pytest.raises(UserError, match="belongs to processor 256, but"):
        exchange.processors_of([Path("cpu256.din")])


def test_truncated_compressed_trace_is_refused(drawn: Order, tmp_path: Path) -> None:
    path = exchange.export(drawn, GEM5, tmp_path, LINE_BYTES, compress=True)[0]
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match="cannot be decompressed"):
        exchange.load([path], GEM5, LINE_BYTES)


def test_order_has_16_byte_records() -> None:
    assert DTYPE.itemsize == 16
    assert np.frombuffer(make(1, Op.STORE, [5], 9).tobytes(), np.uint8).tolist() == [9] + 7 * [0] + [
        5,
        0,
        0,
        0,
        1,
        2,
        0,
        0,
    ]
