# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab compare`: how sides are named, which runs count, and what is printed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.commands.compared import USUAL, add_boots, add_run
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.commands import compare
from s80lab.commands.changes import Changes
from s80lab.commands.compare import two_sides
from s80lab.commands.line.compare import CompareArguments
from s80lab.commands.sides import Named, parse_side
from s80lab.experiment.plan import Options, Plan
from s80lab.results.metrics.derive import render
from s80lab.results.products import record_products
from s80lab.results.run_folder import RunFolder

MESI = Options(protocol="mesi", settings={"l2.size": "2MiB"})


@pytest.fixture
def designs(made_runs: Path, tmp_path: Path) -> Lab:
    """Two designs of imapb with six boots each. MESI with 2 MiB has more misses and a smaller E share."""
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with lab.entered():
        add_boots(lab, made_runs / "imape-1", Options())
        add_boots(lab, made_runs / "imape-1", MESI, l2_mpki_all=0.1, e_share=-0.05)
    return lab


@pytest.fixture
def empty(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("imapb", Named("imapb")),
        (
            "imapb --set l2.size=2MiB --protocol=mesi --set l2.ways=8",
            Named("imapb", Changes(protocol="mesi", settings=("l2.size=2MiB", "l2.ways=8"))),
        ),
        ("imapb --server uw --image buildroot --machine s80", Named("imapb", Changes("s80", None, "uw", "buildroot"))),
        ("'my runs/a'", Named("my runs/a")),
    ],
)
def test_side_is_an_experiment_with_options(text: str, expected: Named) -> None:
    assert parse_side(text) == expected
    assert parse_side(expected.label) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the side `` is empty; write an experiment or a run"),
        ("imapb 'x", "cannot be read \\(No closing quotation\\)"),
        ("--set l2.size=2MiB", "begins with an option; begin with an experiment or a run"),
        ("imapb --protocl mesi", "has no option `--protocl`: did you mean --protocol"),
        ("imapb --seeds 1,2", "has no option `--seeds`"),
        ("imapb mesi", "has no option `mesi`"),
        ("imapb --set", "the option --set needs a value"),
    ],
)
def test_wrong_side_is_refused_with_the_remedy(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        parse_side(text)


def test_changes_alone_make_the_second_side_from_the_first() -> None:
    first, second = two_sides("imapb --set l2.ways=8", None, Changes(protocol="mesi", settings=("l2.size=2MiB",)))
    assert first.label == "imapb --set l2.ways=8"
    assert second.label == "imapb --protocol mesi --set l2.ways=8 --set l2.size=2MiB"


def test_row_has_values_difference_interval_ratio_and_verdict(designs: Lab) -> None:
    printed = designs.call("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB")
    assert "From A to B: protocol moesi -> mesi; l2.size 8MiB -> 2MiB." in " ".join(printed.split())
    line = next(line for line in printed.splitlines() if line.startswith("L2 misses per 1000"))
    # Both sides have the spread of the boots in common, so the difference within each boot is 0.1 exactly.
    assert line.split()[-7:] == ["0.500", "0.600", "+0.100", "±", "0.000", "1.20", "higher"]
    line = next(line for line in printed.splitlines() if line.startswith("E share"))
    assert line.split()[-7:] == ["30.0%", "25.0%", "-5.0", "±", "0.0", "0.83", "lower"]
    assert "The difference B - A is taken within each boot of both sides" in " ".join(printed.split())


def test_sides_may_be_written_in_full_and_exchanged(designs: Lab) -> None:
    told = json.loads(designs.answer("compare", "imapb --set l2.size=2MiB --protocol mesi", "imapb", "--json"))
    (found,) = told["comparisons"]
    by_name = {row["name"]: row for row in found["rows"]}
    assert by_name["l2_mpki"]["difference"] == pytest.approx(-0.1) and by_name["l2_mpki"]["verdict"] == "lower"
    assert by_name["e_share"]["verdict"] == "higher" and by_name["cpi"]["verdict"] == "no difference shown"
    assert found["unit"] == "boot" and found["paired"] and found["first"]["observations"] == 6
    assert found["changes"][0] == {"key": "protocol", "first": "mesi", "second": "moesi"}


def test_page_has_each_number_and_note_of_the_terminal(designs: Lab) -> None:
    words = ("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB")
    printed = designs.answer(*words)
    page = Path(printed.splitlines()[-1].removeprefix("report: "))
    text = page.read_text()
    told = json.loads(designs.answer(*words, "--json"))["comparisons"][0]
    assert all(row["label"] in text for row in (*told["rows"], *told["other_rows"]))
    assert all(
        note.replace("`", "").replace("'", "&#39;") in text.replace("<code>", "").replace("</code>", "")
        for note in told["notes"]
    )
    assert '<h2 id="machine">Machine</h2>' in text and "≠ 2MiB" in text
    assert text.count("<figure ") == 3 and (page.parent / "figures" / "differences.png").is_file()


def test_comparison_of_other_runs_gets_another_page(designs: Lab) -> None:
    words = ("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB")
    pages = {designs.answer(*words, *more).splitlines()[-1] for more in ((), ("--boots", "1,2,3"))}
    assert len(pages) == 2


def test_boots_select_runs_of_both_sides(designs: Lab) -> None:
    words = ("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB", "--boots", "2,3", "--json")
    (found,) = json.loads(designs.answer(*words))["comparisons"]
    assert [run["run"] for run in found["first"]["runs"]] == ["imapb-small-s1-moesi-02", "imapb-small-s1-moesi-03"]
    assert not found["paired"]


def test_runs_are_compared_by_their_names(designs: Lab) -> None:
    a, b = (",".join(f"imapb-small-s1-{protocol}-0{boot}" for boot in (1, 2, 3)) for protocol in ("moesi", "mesi"))
    (found,) = json.loads(designs.answer("compare", a, b, "--json"))["comparisons"]
    assert found["first"]["label"] == a and found["second"]["observations"] == 3


def test_compare_of_one_boot_per_side_suggests_more_boots(designs: Lab) -> None:
    printed = designs.call("compare", "imapb-small-s1-moesi-01", "imapb-small-s1-mesi-01")
    assert "not tested" in printed and "±" not in printed
    assert "because sides A and B have one boot." in " ".join(printed.split())
    assert "repeat the comparison with `--run --boots 1,2,3`" in " ".join(printed.split())


def test_row_without_a_difference_says_how_many_boots_would_show_one(made_runs: Path, designs: Lab) -> None:
    with designs.entered():
        for boot in range(7, 11):
            values = {**USUAL, "e_share": 0.25 + 0.02 * (boot % 2)}
            add_run(designs, made_runs / "imape-1", boot, values, Options(protocol="mosi"))
    printed = designs.call("compare", "imapb", "--protocol", "mosi", "--boots", "1,2,3,4,7,8,9,10")
    text = " ".join(printed.split())
    assert "Silent E-to-M upgrades per E fill: about 1 more boot a side would show a difference of 1 point." in text
    assert "L2 misses per 1000 instructions: these runs are enough to show a difference of 5%." in text
    assert "E share (E fills, of all fills):" not in text


def test_missing_runs_are_executed_on_request(
    made_runs: Path, empty: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The guest is left out: its pipeline is replaced by one that writes the runs of the plans."""
    made = []

    def pipeline(plans: list[Plan], jobs: int, again: bool, until: str) -> list[Path]:
        for plan in plans:
            made.append((plan.protocol_name, plan.machine.l2.size >> 20, plan.boot_number, plan.seed, plan.misses))
            options = MESI if plan.protocol_name == "mesi" else Options()
            values = {**USUAL, "e_share": 0.3 + plan.boot_number / 100}
            add_run(empty, made_runs / "imape-1", plan.boot_number, values, options)
        return []

    monkeypatch.setattr(compare, "run_pipeline", pipeline)
    wanted = CompareArguments("imapb", protocol="mesi", settings=["l2.size=2MiB"], boots="1,2", misses=True, run=True)
    with empty.entered():
        compare.compare_command(wanted)
    assert made == [
        *(("moesi", 8, boot, 1, True) for boot in (1, 2)),
        *(("mesi", 2, boot, 1, True) for boot in (1, 2)),
    ]
    assert "2 boots (2 runs) on side A and 2 boots (2 runs) on side B" in " ".join(capsys.readouterr().out.split())


def test_invalid_run_is_refused_by_name_and_left_out_of_an_experiment(made_runs: Path, designs: Lab) -> None:
    with designs.entered():
        name = add_run(designs, made_runs / "imape-1", 9, USUAL, MESI, valid=False)
    said = designs.call("compare", "imapb-small-s1-moesi-01", name, code=2)
    assert said == (
        f"s80lab: the run {name} is invalid (2.20 closed-loop cycles per client measured, 3 are needed), and invalid "
        "runs are not compared; omit the run, or measure longer\n"
    )
    printed = designs.call("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB")
    assert "imapb --protocol mesi --set l2.size=2MiB: 1 invalid run left out." in printed


def test_runs_of_another_build_than_the_latest_are_left_out(designs: Lab) -> None:
    with designs.entered():
        for boot in (1, 2):
            path = designs.results / "runs" / f"imapb-small-s1-moesi-0{boot}" / "manifest.json"
            manifest = json.loads(path.read_text())
            manifest["inputs"]["kernel"] = "c" * 64
            path.write_text(json.dumps(manifest))
    told = json.loads(designs.answer("compare", "imapb", "--protocol", "mesi", "--set", "l2.size=2MiB", "--json"))
    assert told["remarks"] == ["imapb: 2 runs of other builds of the plugin, QEMU or the image left out."]
    (found,) = told["comparisons"]
    assert found["first"]["observations"] == 4 and found["second"]["observations"] == 6


def test_run_of_another_guest_is_of_another_design(made_runs: Path, designs: Lab) -> None:
    with designs.entered():
        name = add_run(designs, made_runs / "imape-1", 9, USUAL, Options())
        path = designs.results / "runs" / name / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"differences": {"guest.cpu": "max"}}))
    told = json.loads(designs.answer("compare", "imapb", name, "--json"))
    (found,) = told["comparisons"]
    assert found["first"]["observations"] == 6 and found["second"]["observations"] == 1
    assert found["changes"] == [{"key": "guest.cpu", "first": None, "second": "max"}]


def test_design_with_invalid_runs_only_is_refused_with_the_reason(made_runs: Path, designs: Lab) -> None:
    with designs.entered():
        name = add_run(designs, made_runs / "imape-1", 1, USUAL, Options(protocol="msi"), valid=False)
    said = designs.call("compare", "imapb", "--protocol", "msi", code=2)
    assert f"no run of `imapb --protocol msi` is valid ({name}: 2.20 closed-loop cycles" in said


def test_runs_of_several_designs_on_one_side_are_refused(designs: Lab) -> None:
    said = designs.call("compare", "imapb-small-s1-moesi-01,imapb-small-s1-mesi-02", "imapb-small-s1-mesi-01", code=2)
    assert (
        "imapb-small-s1-moesi-01 and imapb-small-s1-mesi-02 differ (protocol moesi -> mesi); one side of a comparison"
        in said
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["imapb"],
            "compare needs a second side: name it (`s80lab compare imapb OTHER`), or change the design of imapb",
        ),
        (["imapb"], "runs of gem5 are compared by `s80lab gem5 compare`"),
        (["imapb", "imapb"], "are the same design: both have 6 runs"),
        (
            ["imapb", "imape", "--protocol", "mesi"],
            'write the options inside a side, for example "imape --protocol mesi"',
        ),
        (["imapb", "--protocol", "msi"], "there is no run of `imapb --protocol msi` in "),
        (
            ["imapb", "--protocol", "msi"],
            "or first make runs with `s80lab run imapb --protocol msi --boots 1,2,3 --seeds 1`",
        ),
        (["imapz", "imapb"], "no run `imapz` (`s80lab list` shows the runs): did you mean imape?"),
        (["imapb-small-s1-m", "imapb"], "the names of several runs begin with `imapb-small-s1-m`"),
        (
            ["imapb-small-s1-mesi-01 --protocol msi", "imapb"],
            "imapb-small-s1-mesi-01 is a run, and a run cannot be changed",
        ),
        (["imapb", "--protocol", "mesi", "--form", "full"], "--form cannot be combined with live runs"),
        (["imapb", "--protocol", "mesi", "--replay", "--run"], "--run cannot be combined with --replay; omit --run"),
        (["imapb", "--protocol", "mesy"], "did you mean mesi"),
    ],
)
def test_mistake_is_one_sentence_with_the_remedy(designs: Lab, words: list[str], sentence: str) -> None:
    said = designs.call("compare", *words, code=2)
    assert sentence in said and said.startswith("s80lab: ") and len(said.splitlines()) == 1


def test_replays_of_captures_are_compared_on_equal_accesses(empty: Lab, tmp_path: Path) -> None:
    captures = [str(write_capture(tmp_path / f"drawn{seed}.s80c", seed, 40_000)) for seed in (1, 2, 3)]
    for capture in captures:
        empty.call("explore", capture, "--vary", "protocol=moesi,msi")
    words = ("compare", "--replay", ",".join(captures), "--protocol", "msi")
    assert "is invalid (not in steady state (too few sampling intervals" in empty.call(*words, code=2)
    for folder in empty.runs():
        declare_valid(folder)
    (found,) = json.loads(empty.answer(*words, "--json"))["comparisons"]
    assert found["unit"] == "capture" and found["paired"] and found["first"]["observations"] == 3
    e_share = next(row for row in found["rows"] if row["name"] == "e_share")
    assert e_share["second"] == 0 and e_share["verdict"] == "lower" and e_share["half_width"] > 0
    printed = empty.call("compare", "--replay", captures[0], "--protocol", "msi")
    assert "because sides A and B have one capture" in " ".join(printed.split())


def declare_valid(folder: Path) -> None:
    """Replays of drawn accesses have too few sampling intervals to be valid."""
    stats = json.loads((folder / "stats.json").read_text())
    stats["standing"] = {"verdict": "valid", "reasons": []}
    (folder / "stats.json").write_text(render(stats))
    record_products(RunFolder(folder))


def test_replay_of_two_captures_is_refused(empty: Lab, tmp_path: Path) -> None:
    one, other = (str(write_capture(tmp_path / f"drawn{seed}.s80c", seed, 2_000)) for seed in (1, 2))
    said = empty.call("compare", "--replay", one, f"{other} --protocol msi", code=2)
    assert "--replay compares designs on equal captures" in said
    shutil.copyfile(one, tmp_path / "copy.s80c")
    said = empty.call("compare", "--replay", f"{one},{tmp_path / 'copy.s80c'}", "--protocol", "msi", code=2)
    assert "is named twice; name each capture once" in said
