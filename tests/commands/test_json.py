# SPDX-License-Identifier: GPL-2.0-or-later
"""With --json a command prints one JSON value on stdout and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.lab import Lab

from s80lab.analysis.groups import read_groups
from s80lab.base import paths
from s80lab.commands.line.app import app

# Commands without a table: they make something and say where it is.
MAKERS = {
    *("batch", "bench", "capture", "checkpoint build", "collect", "image build", "image symbols", "init"),
    *("reference keep", "reference show"),
    *(f"{store} {verb}" for store in ("checkpoint", "captures") for verb in ("export", "import", "prune", "remove")),
    *("machine show", "protocol docs", "trace export", "trace import"),
    *(f"{kind} new" for kind in ("experiment", "machine", "protocol", "workload")),
}
TRACE = paths.ROOT / "docs" / "traces" / "migratory.trace"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, part in command.commands.items():
            yield from leaves(part, (*path, name))
    else:
        yield " ".join(path), command


def test_commands_without_json_option_print_no_table() -> None:
    commands = dict(leaves(typer.main.get_command(app)))
    with_json = {name for name, one in commands.items() if any("--json" in parameter.opts for parameter in one.params)}
    assert commands.keys() - with_json == MAKERS


def said(lab: Lab, *arguments: str) -> Any:
    return json.loads(lab.answer(*arguments, "--json"))


def test_report_json_has_groups_and_estimates(measured: Lab, made_runs: Path) -> None:
    told = said(measured, "report", "imapb", "imape", "--scale", "tiny")
    groups = read_groups(sorted(made_runs.glob("imap*")))
    assert [group["label"] for group in told["groups"]] == ["imapb · tiny", "imape · tiny"]
    assert [group["seeds"] for group in told["groups"]] == [[1, 2, 3], [11, 12, 13]]
    expected = groups[1].estimate("e_share")
    assert expected is not None
    assert told["groups"][1]["metrics"]["e_share"] == {
        "mean": pytest.approx(expected.mean),
        "half_width": pytest.approx(expected.half_width),
        "n": 3,
    }
    assert len(told["groups"][0]["invalid"]) == 3 and told["groups"][1]["invalid"] == {}
    assert [Path(page).is_file() for page in told["reports"]] == [True]


def test_report_json_tells_if_intervals_contain_the_other_estimate(measured: Lab) -> None:
    (told,) = said(measured, "report", "imape", "--scale", "tiny", "--seeds", "11,12", "--beside", "13")
    assert [group["seeds"] for group in told["groups"]] == [[11, 12], [13]]
    (table,) = told["held"]
    assert table["columns"] == ["seeds 11, 12", "seed 13", "contained"]
    assert {row["cells"][2] for row in table["rows"]} <= {"yes", "no"}


def test_list_json_has_scales_servers_and_runs(measured: Lab) -> None:
    told = said(measured, "list")
    assert told["scales"] == ["gem5-quick", "light", "paper", "sixteenth", "small"]
    assert {"dovecot", "uw"} <= set(told["servers"])
    assert len(told["runs"]) == 6 and all(run["folder_is_there"] for run in told["runs"])


def test_query_json_has_the_rows(measured: Lab) -> None:
    rows = said(measured, "query", "SELECT workload, count(*) AS runs FROM run GROUP BY workload")
    assert rows == [{"workload": "imapb", "runs": 3}, {"workload": "imape", "runs": 3}]


def test_claims_json_has_ids_and_groups(measured: Lab) -> None:
    assert {"id", "groups"} <= said(measured, "claims", "imape", "--scale", "tiny")[0].keys()


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["metrics"], {"name", "unit", "description", "formula", "of_caches", "of_load"}),
        (["protocol", "list"], {"name", "description", "states", "l2_inclusion", "proven", "caches"}),
        (["protocol", "check", "msi"], {"file", "protocol", "proof", "counterexample"}),
        (["doctor"], {"subject", "good", "text"}),
    ],
)
def test_lists_of_records(lab: Lab, arguments: list[str], keys: set[str]) -> None:
    rows = said(lab, *arguments)
    assert rows and all(row.keys() == keys for row in rows)


def test_stores_that_are_empty(measured: Lab) -> None:
    for store in ("checkpoint", "captures"):
        assert said(measured, store, "list") == [] == said(measured, store, "verify")


def test_protocol_show_json_is_the_protocol_table(lab: Lab) -> None:
    table = said(lab, "protocol", "show", "moesi")["table"]
    assert table["own"]["store"]["E"] == {"next": "M"}
    assert table["remote"]["read"]["M"] == {"next": "O", "supply": True, "writeback": False}


def test_trace_step_json_has_a_step_per_access(lab: Lab) -> None:
    lesson = said(lab, "trace", "step", str(TRACE))
    assert len(lesson["steps"]) == said(lab, "trace", "info", str(TRACE))["accesses"] == 8
    first = lesson["steps"][0]
    (spot,) = first["changes"]
    assert (spot["core"], spot["line"]) == (first["core"], lesson["lines"][0]["line"])
    assert first["from_memory"]
