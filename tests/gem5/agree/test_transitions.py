# SPDX-License-Identifier: GPL-2.0-or-later
"""Incomplete or unknown outputs of Ruby are refused: truncated dumps, missing rows, unknown transitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.gem5.agree.random_traces import KINDS, TRANSIENT, draw
from tests.gem5.record import RECORDED, trim_transitions

from s80lab.base.errors import UserError
from s80lab.gem5 import binary as gem5_binary
from s80lab.gem5 import stats
from s80lab.gem5.agree import agree, categories
from s80lab.gem5.agree.categories import (
    FILTERED_HAMMER,
    HAMMER,
    Counterpart,
    model_counts,
    ruby_counts,
)
from s80lab.gem5.agree.three_level import THREE_LEVEL
from s80lab.trace import tool
from s80lab.trace.order import Op, make
from s80lab.trace.tool import Begin

PREFIX = "board.cache_hierarchy.ruby_system."


def dump(*rows: str) -> str:
    return "\n".join([stats.BEGIN, *rows, stats.END]) + "\n"


LOAD = f"{PREFIX}L1Cache_Controller.I.Load::total            3"
GETS = f"{PREFIX}Directory_Controller.E.GETS        3 # a count"


def test_rows_are_summed_over_the_controllers() -> None:
    vector = f"{PREFIX}L1Cache_Controller.I.Load   |   1   33.33%   33.33% |   2   66.67%  100.00%"
    assert categories.parse_transitions(dump(vector, LOAD, GETS), "x") == {
        "L1Cache_Controller.I.Load": 3,
        "Directory_Controller.E.GETS": 3,
    }


def test_last_ruby_dump_is_used() -> None:
    later = LOAD.replace("3", "5")
    assert categories.parse_transitions(dump(LOAD, GETS) + dump(later, GETS), "x")["L1Cache_Controller.I.Load"] == 5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "the file contains no statistics"),
        (dump(LOAD, GETS)[:-20], "contains a value that is not a number"),
        (dump(LOAD, GETS) + stats.BEGIN + "\n" + LOAD, "the end line is missing"),
        (dump(LOAD), "no transitions of Directory_Controller"),
        (dump(GETS), "no transitions of L1Cache_Controller"),
        (dump(LOAD.replace("3", "many"), GETS), "contains a value that is not a number"),
    ],
)
def test_incomplete_ruby_output_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        categories.parse_transitions(text, "x")


def test_row_names_of_another_release_become_those_of_the_table() -> None:
    load, gets = "L1Cache_Controller.I.Load", "Directory_Controller.E.GETS"
    text = dump(f"{PREFIX}hammer_L1.I.Load::total 3", GETS)
    renamed = {f"{PREFIX}hammer_L1.": f"{PREFIX}L1Cache_Controller."}
    assert categories.parse_transitions(text, "x", renamed) == {load: 3, gets: 3}


def test_trimming_keeps_what_is_read() -> None:
    text = dump("simSeconds 0.1", LOAD, f"{PREFIX}L1Cache_Controller.I.Other_GETS::total 9", GETS)
    kept = trim_transitions(text, RECORDED)
    assert "Other_GETS" not in kept and "simSeconds" not in kept
    assert categories.parse_transitions(kept, "x") == {"L1Cache_Controller.I.Load": 3, "Directory_Controller.E.GETS": 3}


def test_missing_accesses_are_refused() -> None:
    rows = {"L1Cache_Controller.I.Load": 3}
    assert ruby_counts(rows, 3, "x")["misses: loads"] == 3
    with pytest.raises(UserError, match="add up to 3 accesses, but 4 were replayed"):
        ruby_counts(rows, 4, "x")


def test_unknown_ruby_transition_is_refused() -> None:
    with pytest.raises(UserError, match=r"L1Cache_Controller\.XX\.Load, which is in no category"):
        ruby_counts({"L1Cache_Controller.XX.Load": 1}, 1, "x")


def test_stalled_tries_are_not_accesses() -> None:
    rows = {"L1Cache_Controller.I.Load": 1, "L1Cache_Controller.IS.Load": 7, "L1Cache_Controller.SM.Store": 2}
    assert sum(ruby_counts(rows, 1, "x").values()) == 1


def test_model_counts_of_other_protocol_are_refused() -> None:
    with pytest.raises(UserError, match=r"use its table with l2\.inclusion=exclusive"):
        model_counts({"access.l1.load.M": 5}, 5)


COUNTERPARTS = (FILTERED_HAMMER, THREE_LEVEL)


@pytest.mark.parametrize("side", COUNTERPARTS, ids=lambda side: side.ruby)
def test_categories_have_names_of_their_own(side: Counterpart) -> None:
    assert len({category.name for category in side.categories}) == len(side.categories)


@pytest.mark.parametrize(
    ("side", "row"),
    [
        (HAMMER, "Directory_Controller.NO.Pf_Replacement"),
        (THREE_LEVEL, "L2Cache_Controller.M.L1_GET_INSTR"),
        (THREE_LEVEL, "L1Cache_Controller.M.Load"),
        (THREE_LEVEL, "L0Cache_Controller.E.Load_Linked"),
        (THREE_LEVEL, "Directory_Controller.M.Fetch"),
    ],
)
def test_transition_at_rest_that_no_category_has_is_refused(side: Counterpart, row: str) -> None:
    with pytest.raises(UserError, match=rf"counted the transition {row}, which is in no category"):
        ruby_counts({row: 1}, 0, "x", side)


def test_transitions_that_follow_from_others_are_accepted() -> None:
    rows = {"L1Cache_Controller.I.Inv": 3, "L2Cache_Controller.MT_MB.L1_GETS": 2, "L0Cache_Controller.S.InvElse": 1}
    assert set(ruby_counts(rows, 0, "x", THREE_LEVEL).values()) == {0}


@pytest.mark.parametrize("name", KINDS)
def test_drawn_traces_reach_every_category_of_isolated_accesses(name: str) -> None:
    total: Counter[str] = Counter()
    for seed in range(1, 5):
        made, order = draw(KINDS[name], seed)
        side = agree.counterpart(made)
        total += Counter(model_counts(tool.counts(order, made), len(order), side))
    assert {category.name for category in side.categories} - total.keys() == (
        TRANSIENT if side.ruby != "MESI_Three_Level" else set()
    )
    if name != "hammer":
        assert sum(count for category, count in total.items() if category.startswith(KINDS[name].recalls)) > 1000


def test_agreement_without_gem5_is_refused_with_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GEM5", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"gem5 was not found: give --gem5 PATH, set \$GEM5"):
        gem5_binary.find_gem5()
    with pytest.raises(UserError, match="is not an executable file"):
        gem5_binary.find_gem5(tmp_path)
    binary = tmp_path / "gem5.opt"
    binary.write_text("")
    binary.chmod(0o755)
    assert gem5_binary.find_gem5() == binary


def test_spaced_accesses_are_alone_in_the_machine() -> None:
    machine = agree.setup("s80", []).machine
    ticks = agree.timed(make([0, 1, 0], Op.LOAD, [1, 2, 3], [9, 0, 4]), machine, "spaced")["tick"]
    longest = machine.latency.memory + machine.latency.cache + machine.latency.upgrade
    assert (ticks[1:] - ticks[:-1]).min() > 5 * longest * 10**12 // machine.processors.clock_hz


def test_close_accesses_are_played_in_the_order_of_their_ticks() -> None:
    machine = agree.setup("s80", []).machine
    order = make([0, 1, 0, 1], Op.LOAD, [1, 2, 3, 4], [100, 50, 90, 120])
    close = agree.timed(order, machine, "close")
    assert close["line"].tolist() == [2, 1, 3, 4]
    assert close["tick"].tolist() == [0, 50, 50, 70]  # a processor's own ticks do not go back
    with pytest.raises(UserError, match="needs the time of each access"):
        agree.timed(make(0, Op.LOAD, [1]), machine, "close")


def test_inclusive_l2_is_refused_for_agreement() -> None:
    with pytest.raises(UserError, match=r"MOESI_hammer has l2\.inclusion=exclusive"):
        agree.setup("s80", ["l2.inclusion=inclusive"])
    with pytest.raises(UserError, match=r"MESI_Three_Level has l2\.inclusion=inclusive-gem5"):
        agree.setup("server-16", ["l2.inclusion=inclusive"], "mesi-llc")


def test_protocol_that_gem5_does_not_have_is_refused() -> None:
    with pytest.raises(UserError, match="--protocol mosi: gem5 has no counterpart; choose one of hammer, mesi-llc"):
        agree.setup("s80", [], "mosi")


def test_group_caches_are_refused_for_agreement() -> None:
    with pytest.raises(UserError, match=r"MOESI_hammer has no group caches: remove \[group\]"):
        agree.setup("s80", ["group.cores=2", "group.size=1MiB", "group.ways=4", "latency.group=20"])


def test_warm_caches_of_a_machine_with_a_directory_are_refused(tmp_path: Path) -> None:
    made = agree.setup("s80", ["directory.entries=4096", "directory.ways=4"])
    with pytest.raises(UserError, match="--warm: the caches of MOESI_hammer with a home cannot be loaded"):
        agree.run(make(0, Op.LOAD, [1]), made, "spaced", tmp_path, tmp_path, Begin(tmp_path, 1))
