# SPDX-License-Identifier: GPL-2.0-or-later
"""Incomplete or unknown outputs of Ruby are refused: truncated dumps, missing rows, unknown transitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gem5.record import RECORDED, trim_transitions

from s80lab.base.errors import UserError
from s80lab.gem5 import binary as gem5_binary
from s80lab.gem5 import stats
from s80lab.gem5.agree import agree, categories
from s80lab.gem5.agree.categories import CATEGORIES, model_counts, ruby_counts
from s80lab.trace.order import Op, make

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
    with pytest.raises(UserError, match="use protocol hammer"):
        model_counts({"access.l1.load.M": 5}, 5)


def test_categories_have_names_of_their_own() -> None:
    assert len({category.name for category in CATEGORIES}) == len(CATEGORIES)


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
    with pytest.raises(UserError, match="exclusive"):
        agree.setup("s80", ["l2.inclusion=inclusive"])
