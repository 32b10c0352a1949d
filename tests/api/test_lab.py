# SPDX-License-Identifier: GPL-2.0-or-later
"""`from s80lab import Lab`: the examples of the docstrings, and what is wrong told in one sentence."""

from __future__ import annotations

import asyncio
import builtins
import doctest
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.commands.compared import add_boots
from tests.lab import Lab as CommandLine

import s80lab.api.lab
import s80lab.api.runs
from s80lab import Lab
from s80lab.api import MisleadingMeanWarning, Runs
from s80lab.api.frames import html_table
from s80lab.base.errors import UserError
from s80lab.experiment.plan import Options
from s80lab.results.database import insert_run
from s80lab.results.identity import COLUMNS
from s80lab.results.run_folder import MISS_STACKS, RunFolder


@pytest.fixture
def lab(measured: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The lab that the command would work in, with three runs of each mix."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    monkeypatch.setenv("S80LAB_CAPTURES", str(measured.captures))
    return Lab()


@pytest.mark.parametrize(
    "module", [s80lab.api.lab, s80lab.api.runs, s80lab.api.runs], ids=lambda module: module.__name__
)
def test_docstring_examples_print_what_they_show(lab: Lab, module: ModuleType) -> None:
    done = doctest.testmod(module, extraglobs={"lab": lab}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 1 and done.failed == 0


def test_lab_of_a_different_folder_can_be_read_but_not_explored(lab: Lab) -> None:
    other = Lab(lab.results.parent)
    assert len(other.runs("imape").results()) == 3
    with pytest.raises(UserError, match="works only in the lab that the command `s80lab` uses"):
        other.explore("capture", "protocol=mesi")


def test_estimate_equals_that_of_the_report(lab: Lab) -> None:
    runs = lab.runs("imape")
    (group,) = runs.groups()
    expected = group.estimate("cpi.all")
    assert expected is not None
    (row,) = runs.estimates("cpi.all").to_dict("records")
    assert (row["mean"], row["half_width"], row["n"]) == (expected.mean, expected.half_width, 3)


def test_estimate_of_several_boots_is_over_the_boots(lab: Lab) -> None:
    runs = lab.runs("imape")
    for number, folder in enumerate(runs.folders):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text())
        boot = 1 + number // 2
        path.write_text(json.dumps(manifest | {"boot": boot, "inputs": manifest["inputs"] | {"ready": f"b{boot}"}}))
    (row,) = lab.runs("imape").estimates("cpi.all").to_dict("records")
    first, second, third = (run.metrics["cpi.all"] or 0.0 for run in runs)
    assert (row["n"], row["over"]) == (2, "boot")
    assert row["mean"] == pytest.approx(((first + second) / 2 + third) / 2)


def test_frames_have_the_columns_of_v_run(lab: Lab) -> None:
    stored = lab.query("SELECT * FROM v_run_all ORDER BY run").astype(object)
    runs = lab.runs()
    for frame in (runs.frame("e_share"), runs.intervals()):
        assert list(frame.columns[: len(COLUMNS)]) == list(stored.columns) == list(COLUMNS)
        own = frame[list(COLUMNS)].drop_duplicates().sort_values("run").reset_index(drop=True).astype(object)
        assert own.fillna("").to_dict("records") == stored.fillna("").to_dict("records")
    estimates = runs.results().estimates("e_share")
    assert set(COLUMNS) - {"run", "seed", "boot"} < set(estimates.columns)


@pytest.fixture
def mixed(lab: Lab) -> Runs:
    """Three valid runs of imape, of which one has another design."""
    folder = lab.results / "runs" / "imape-3"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"protocol": "mesi"}))
    insert_run(lab.database, RunFolder(folder))
    return lab.runs("imape")


MEANS: dict[str, Callable[[Runs], object]] = {
    "column": lambda runs: runs.frame("e_share")["e_share"].mean(),
    "attribute": lambda runs: runs.frame("e_share").e_share.mean(),
    "selected rows": lambda runs: runs.frame("e_share")[lambda frame: frame["seed"] > 11]["e_share"].mean(),
    "rows of a column": lambda runs: runs.frame("e_share")["e_share"].iloc[1:].mean(),
    "frame": lambda runs: runs.frame("e_share").mean(numeric_only=True),
    "groups": lambda runs: runs.frame("e_share").groupby("workload")["e_share"].mean(),
    "sampling intervals": lambda runs: runs.intervals()["misses"].mean(),
    "groups as columns": lambda runs: runs.frame("e_share").groupby("workload", as_index=False)["e_share"].mean(),
}


@pytest.mark.parametrize("mean", MEANS.values(), ids=MEANS)
def test_mean_over_several_designs_warns(mixed: Runs, mean: Callable[[Runs], object]) -> None:
    with pytest.warns(MisleadingMeanWarning, match="pools runs that differ in design: group by design, or choose"):
        mean(mixed)


def test_query_over_several_designs_warns(lab: Lab, mixed: Runs) -> None:
    with pytest.warns(MisleadingMeanWarning, match="pools runs that differ in design: add design to SELECT"):
        lab.query("SELECT workload, avg(e_share) FROM v_design GROUP BY workload")


@pytest.mark.filterwarnings("error")
def test_mean_over_one_design_does_not_warn(lab: Lab, mixed: Runs) -> None:
    frame = mixed.frame("e_share")
    usual = frame[frame["protocol"] == "moesi"]
    assert usual["e_share"].mean() == pytest.approx(usual["e_share"].sum() / 2)
    assert len(frame.groupby("design")["e_share"].mean()) == 2
    assert len(frame.groupby(["workload", "design"]).mean(numeric_only=True)) == 2
    assert frame["seed"].max() == 13 and len(mixed.estimates("e_share")) == 2
    assert len(lab.query("SELECT design, avg(e_share) FROM v_design GROUP BY design")) == 2


def test_means_of_invalid_runs_warn(lab: Lab) -> None:
    runs = lab.runs("imapb")
    with pytest.warns(MisleadingMeanWarning, match="imapb.*: these means are over invalid runs"):
        assert set(runs.estimates("e_share")["status"]) == {"invalid"}
    with pytest.warns(MisleadingMeanWarning, match="all runs of this mean are invalid"):
        runs.frame("e_share")["e_share"].mean()


def test_representations_are_short(lab: Lab) -> None:
    runs = lab.runs()
    assert repr(runs) == "Runs(6 runs: imapb-1, imapb-2, imapb-3, ...)"
    assert repr(runs[:1]) == "Runs(imapb-1)"
    assert re.fullmatch(r"Run\(imapb-1, s80 · moesi #\w{6}, invalid\)", repr(runs[0]))
    assert all(len(repr(group)) < 100 for group in runs.groups())
    page = runs._repr_html_()
    assert page.count("<tr>") == 7 and "<td>imape-3</td>" in page
    assert "L2 misses per 1000 instructions" in runs[0]._repr_html_()
    many = Runs([*runs.folders] * 4)
    assert many._repr_html_().count("<tr>") == 22 and "... and 4 more" in many._repr_html_()


def test_html_shows_names_as_text() -> None:
    assert html_table(("a",), [("<b>",)]) == (
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>"
    )


def test_compare_has_the_values_of_the_command(lab: Lab, made_runs: Path) -> None:
    command = CommandLine(lab.results.parent / "checkpoints", lab.results)
    mesi = Options(protocol="mesi", settings={"l2.size": "2MiB"})
    names = (
        add_boots(command, made_runs / "imape-1", Options()),
        add_boots(command, made_runs / "imape-1", mesi, turn=1),
    )
    first, second = (lab.runs("imapb", protocol=protocol, scale="small") for protocol in ("moesi", "mesi"))
    assert [[folder.name for folder in runs.folders] for runs in (first, second)] == list(names)
    found = first.compare(second)
    options = ("--protocol", "mesi", "--set", "l2.size=2MiB", "--json")
    (record,) = json.loads(command.answer("compare", "imapb", *options))["comparisons"]
    for row, of_command in zip(found.to_dict("records"), record["rows"], strict=False):
        assert row["verdict"] == of_command["verdict"]
        assert (row["row"], row["first"], row["half_width"]) == tuple(
            of_command[key] for key in ("name", "first", "half_width")
        )
    assert found.attrs["notes"][0].startswith("The unit of observation is the boot: 6 boots")


def test_compare_leaves_out_invalid_runs(lab: Lab) -> None:
    with pytest.raises(UserError, match="the other runs: none of the 3 runs is valid"):
        lab.runs("imape").compare(lab.runs("imapb"))


def test_misses_of_a_run_are_a_frame(lab: Lab) -> None:
    run = lab.runs("imape")[0]
    with pytest.raises(UserError, match="imape-1: this run has no log of misses; repeat the run with --misses"):
        run.misses()
    (run.folder / MISS_STACKS).write_text("imap;system_call;futex_wake;futex bucket 5\nidle;timer_tick;run queue 30\n")
    assert run.misses().to_dict("records") == [
        {"process": "idle", "entry": "", "function": "timer_tick", "data": "run queue", "misses": 30},
        {"process": "imap", "entry": "system_call", "function": "futex_wake", "data": "futex bucket", "misses": 5},
    ]


def test_profile_of_a_run_without_one_is_refused(lab: Lab) -> None:
    with pytest.raises(UserError, match="this run has no profile; run the experiment with --profile"):
        lab.runs("imape")[0].profile()


def test_report_of_selected_runs_is_written(lab: Lab, tmp_path: Path) -> None:
    page = lab.runs(seed=1)[:1].report(tmp_path / "mine", "Mine")
    assert "Mine" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda lab: lab.runs(scales="small"), "has no column `scales`"),
        (
            lambda lab: lab.runs().frame("e_shares"),
            r"no run has a metric `e_shares`: did you mean e_share\?",
        ),
        (lambda lab: lab.reference("huge"), "results/reference has no result `huge`"),
        (lambda lab: lab.capture("imapb"), "there is no capture in"),
        (lambda lab: lab.protocol("mosey"), "there is no protocol `mosey`"),
        (lambda lab: lab.query("SELECT seed, seed FROM run"), "two columns of the query are named seed"),
        (lambda lab: lab.query("DELETE FROM run"), "the SQL query failed"),
    ],
)
def test_wrong_calls_give_one_sentence(lab: Lab, wrong: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        wrong(lab)


def test_missing_pandas_gives_one_sentence(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match="need the package pandas, which is not installed"):
        lab.metrics()


def test_work_ends_where_a_loop_runs_already() -> None:
    async def work() -> int:
        return 42

    async def notebook() -> int:
        return s80lab.api.lab._finish(work())

    assert asyncio.run(notebook()) == s80lab.api.lab._finish(work()) == 42
