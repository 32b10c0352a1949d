# SPDX-License-Identifier: GPL-2.0-or-later
"""Warm caches for Ruby: the accesses that rebuild a state, and the checkpoint that holds them."""

from __future__ import annotations

import gzip
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gem5.agree import probe, warm_case

from s80lab.base.errors import UserError
from s80lab.gem5.agree import agree, categories, replay, warm
from s80lab.gem5.check.traces import random_order
from s80lab.gem5.stats import Dump, dumps_of
from s80lab.trace import order as trace_order
from s80lab.trace import source as trace_source
from s80lab.trace import tool
from s80lab.trace.order import Op, make
from s80lab.trace.setup import Setup
from s80lab.trace.source import Wanted
from s80lab.trace.tool import Begin

FIRST = warm_case.FIRST
MACHINE = Wanted(warm_case.MACHINE, agree.PROTOCOL, tuple(warm_case.SETTINGS))


@pytest.fixture(scope="module")
def setup() -> Setup:
    return warm_case.setup()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("warm") / "drawn.order"
    trace_order.write(path, warm_case.accesses())
    return path


def loaded(trace: Path, folder: Path) -> tuple[trace_source.Source, Begin]:
    return trace_source.load_warm(trace, replace(MACHINE, first=FIRST), folder / "begin.state")


def test_counts_from_a_warm_state_continue_those_before_it(setup: Setup, trace: Path, tmp_path: Path) -> None:
    source, begin = loaded(trace, tmp_path)
    whole = trace_order.read(trace)
    before, after = tool.counts(whole[:FIRST], setup), tool.counts(source.order, setup, begin)
    assert {key: before.get(key, 0) + after.get(key, 0) for key in before | after} == tool.counts(whole, setup)


def test_rebuilt_state_gives_the_counts_of_the_original(setup: Setup, trace: Path, tmp_path: Path) -> None:
    source, begin = loaded(trace, tmp_path)
    rebuilt = warm.prepare(begin, setup, tmp_path)
    assert rebuilt.facts["assumed"] == 0
    assert set(rebuilt.facts["contents"]) == {"l1i", "l1d", "l2"}
    assert tool.counts(source.order, setup, rebuilt.begin) == tool.counts(source.order, setup, begin)
    assert tool.counts(source.order, setup, rebuilt.begin) != tool.counts(source.order, setup)


def test_capture_begins_with_the_state_before_its_first_compared_access(
    setup: Setup, trace: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "drawn.s80c"
    whole = trace_order.read(trace)
    tool.to_capture(whole, setup.machine, capture, lines=20_000, protocol="none", origin="{}")
    source, begin = loaded(capture, tmp_path)
    assert (source.order["line"] == whole["line"][FIRST:]).all()
    assert begin.lines == 20_000
    _, from_order = loaded(trace, tmp_path / "..")
    assert tool.counts(source.order, setup, begin) == tool.counts(whole[FIRST:], setup, from_order)


@pytest.mark.parametrize("suffix", [".order", ".s80c"])
def test_warm_needs_accesses_before_the_first_compared_one(
    suffix: str, setup: Setup, trace: Path, tmp_path: Path
) -> None:
    file = trace
    if suffix == ".s80c":
        file = tmp_path / "drawn.s80c"
        tool.to_capture(trace_order.read(trace), setup.machine, file, lines=20_000, protocol="none", origin="{}")
    with pytest.raises(UserError, match=r"--warm needs accesses that warm the caches .* with --first"):
        trace_source.load_warm(file, MACHINE, tmp_path / "begin.state")


def test_record_has_the_bytes_of_the_struct_in_gem5() -> None:
    line_bytes = 64
    order = make([0, 17, 20], [Op.LOAD, Op.STORE, Op.IFETCH], [0, 5, 1 << 27])
    first = warm.FIRST_CONTROLLER
    expected = b"".join(
        # int, Tick, Addr, Addr, enum, uint8_t[]; the compiler pads the struct to a multiple of 8 bytes.
        struct.pack("<iiQQQi", core + first, 0, time, line * line_bytes, 0, kind) + bytes(line_bytes + 4)
        for time, (core, line, kind) in enumerate([(0, 0, 0), (17, 5, 1), (20, 1 << 27, 5)])
    )
    assert warm.records(order, line_bytes).tobytes() == expected


def test_checkpoint_names_the_size_of_the_unpacked_trace(tmp_path: Path) -> None:
    order = random_order(1, 1000, processors=3, lines=50, stores=30, fetches=30, own=0)
    warm.write_checkpoint(order, 128, tmp_path)
    unpacked = gzip.decompress((tmp_path / warm.TRACE).read_bytes())
    assert unpacked == warm.records(order, 128).tobytes()
    lines = (tmp_path / "m5.cpt").read_text().splitlines()
    assert f"cache_trace_size={len(unpacked)}" in lines
    assert "[board.cache_hierarchy.ruby_system]" in lines
    before = (tmp_path / warm.TRACE).read_bytes()
    warm.write_checkpoint(order, 128, tmp_path)
    assert (tmp_path / warm.TRACE).read_bytes() == before


def test_trace_that_gem5_cannot_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "LARGEST", 999)
    with pytest.raises(UserError, match=r"has 6 records of 168 bytes, and gem5 reads at most 999 bytes: use a machine"):
        warm.write_checkpoint(make(0, Op.LOAD, range(6)), 128, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_recorded_loading_has_the_messages_that_the_model_needs(setup: Setup, tmp_path: Path) -> None:
    rebuilt = warm.prepare(warm_case.begin(tmp_path), setup, tmp_path)
    dump = next(dumps_of(warm_case.recorded("loading.txt").splitlines(), "loading"))
    assert agree.check_loading(dump, rebuilt, setup)


@pytest.mark.parametrize("name", agree.messages({}, 1))
def test_loading_with_other_messages_is_refused(name: str, setup: Setup, tmp_path: Path) -> None:
    rebuilt = warm.prepare(warm_case.begin(tmp_path), setup, tmp_path)
    dump = next(dumps_of(warm_case.recorded("loading.txt").splitlines(), "loading"))
    other = Dump(dump.where, dict(dump.rows) | {agree.ROW + name: (dump.number(agree.ROW + name) + 2,)})
    with pytest.raises(UserError, match=rf"did not load the caches exactly: the network carried \d+ messages {name}"):
        agree.check_loading(other, rebuilt, setup)


def test_loading_of_a_gem5_that_resets_the_messages_is_not_checked(setup: Setup, tmp_path: Path) -> None:
    rebuilt = warm.prepare(warm_case.begin(tmp_path), setup, tmp_path)
    assert not agree.check_loading(Dump("stats.txt", {}), rebuilt, setup)


def test_ruby_counted_after_a_recorded_loading_what_the_model_counts(setup: Setup, tmp_path: Path) -> None:
    rows = categories.parse_transitions(warm_case.recorded("following.txt"), "following")
    order = warm_case.accesses()[FIRST:]
    compared = agree.compare(rows, order, setup, "following", warm_case.begin(tmp_path))
    assert [row for row in compared if row.difference] == []
    assert sum(row.ruby for row in compared if row.category.startswith("evictions")) > 1000


def test_recorded_contents_of_ruby_are_those_of_the_model(setup: Setup, tmp_path: Path) -> None:
    """Every set of every L2 was emptied after the loading: the states, the dirty blocks and the order are equal."""
    begin = warm_case.begin(tmp_path)
    rebuilt = warm.prepare(begin, setup, tmp_path)
    order = replay.spaced(probe.sample(setup.machine, rebuilt.facts["lines"], warm_case.SETS), setup.machine)
    wanted = list(probe.expected(order, setup, Begin(begin.state, int(order["line"].max()) + 1)))
    found = list(probe.observed(warm_case.recorded("transitions.txt").splitlines(), order, setup))
    assert probe.compare(wanted, found) == []
    read = probe.lines_read(wanted, order, begin.lines)
    assert sum(read.values()) == sum(sum(states.values()) for states in rebuilt.facts["contents"].values())
    assert {seen.state for seen in wanted} == {"S", "O", "M", "MM", ""}
    assert probe.compare(wanted, found[1:]) != []
