# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep's runs as a table and curves: a row a point, the seeds of each together. The table of an ablation: what its
intervals are over, and invalid runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.commands.compared import USUAL, add_run
from tests.lab import Lab

from s80lab.analysis.groups import Group, Run, read_groups, read_runs
from s80lab.analysis.sweep import check_shown, sweep_groups, swept
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.suggest import names
from s80lab.config.experiment import load_experiment
from s80lab.config.reproduce import Ratio
from s80lab.experiment.plan import Options
from s80lab.report.ablations import ablation_table
from s80lab.report.sweep import ratio_table, sweep_table, write_sweep
from s80lab.report.tables import Table

METRICS = ("throughput", "miss_source.all.memory", "cpi.all")


@pytest.fixture
def points(runs: Path) -> Sequence[Run]:
    """Two seeds at each of two client counts."""
    folders = [runs / f"imape-{number}" for number in (1, 2, 3)]
    folders.append(runs / "imapb-1")
    for folder, clients, seed in zip(folders, ("10", "10", "9", "9"), (1, 2, 1, 2), strict=True):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text()) | {"experiment": "figure", "workload": "imape"}
        path.write_text(json.dumps(manifest | {"seed": seed, "varied": {"workload": "imape", "clients": clients}}))
    (runs / "imapb-1" / "stats.json").write_text((runs / "imape-1" / "stats.json").read_text())
    return read_runs(folders)


def test_sweep_table_row_is_a_point_over_its_seeds(points: Sequence[Run]) -> None:
    groups = sweep_groups(points)
    table = sweep_table("figure", groups, METRICS)
    assert [row.label for row in table.rows] == ["clients 10", "clients 9"], (
        "what all points have does not tell them apart"
    )
    assert table.columns == (
        "throughput, transactions per second",
        "L2 misses serviced by memory",
        "CPI",
        "seeds",
    )
    expected = groups[0].estimate("throughput")
    assert expected is not None and expected.n == 2
    assert table.rows[0].cells[0].text == f"{expected.mean:,.1f} ± {expected.half_width:,.1f}"
    assert [row.cells[-1].text for row in table.rows] == ["2", "2"]


def test_sweep_page_has_curves_and_a_table_file(points: Sequence[Run], tmp_path: Path) -> None:
    page = write_sweep("figure", sweep_groups(points), METRICS, tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert (
        "2 points: workload = imape; clients = 10, 9." in text and "clients 9" in text and "imape, clients" not in text
    )
    curves = ElementTree.fromstring((page.parent / "figures" / "curves.svg").read_text(encoding="utf-8"))
    said = {"".join(element.itertext()).strip() for element in curves.iter() if element.tag.endswith("text")}
    assert {"clients", "10", "9", "Throughput, transactions per second"} <= said
    assert "| clients 10 |" in (page.parent / "sweep.md").read_text(encoding="utf-8")
    assert str(tmp_path) not in text


def test_ratios_are_of_the_same_seeds(points: Sequence[Run]) -> None:
    groups = sweep_groups(points)
    ratio = Ratio(metric="throughput", axis="clients", over="9", at="10", says="about 1")
    (row,) = ratio_table(groups, [ratio]).rows
    assert row.label == "throughput, transactions per second, clients 10 / 9"
    by_seed = [
        (high.metrics["throughput"] or 0.0) / (low.metrics["throughput"] or 1.0)
        for high, low in zip(groups[0].runs, groups[1].runs, strict=True)
    ]
    assert row.cells[0].text.startswith(f"{sum(by_seed) / 2:.2f} ± ") and row.cells[1].text == "about 1"
    assert ratio_table(groups, [ratio.model_copy(update={"over": "8"})]).rows == []
    with pytest.raises(
        UserError, match=r"has axis = `client`, which is not an axis of the experiment's sweep.*clients"
    ):
        ratio_table(groups, [ratio.model_copy(update={"axis": "client"})])


def test_sweep_ratio_is_judged_by_bounds_if_given(points: Sequence[Run]) -> None:
    groups = sweep_groups(points)

    def row(**bounds: float) -> tuple[str, str, str]:
        ratio = Ratio(metric="throughput", axis="clients", over="9", at="10", says="alike", **bounds)
        (found,) = ratio_table(groups, [ratio]).rows
        return found.cells[1].text, found.cells[2].text, found.detail

    assert row() == ("alike", "-", "")
    assert [run.reasons for run in points] == [()] * 4
    assert row(low=0.1, high=10.0) == ("alike (read as from 0.1 to 10)", "agrees", "")
    assert row(low=1000.0) == ("alike (read as from 1000)", "differs", "")


@pytest.mark.parametrize(
    ("low", "verdict"), [(0.5, "agrees"), (0.92, "not comparable"), (1.08, "not comparable"), (1.2, "differs")]
)
def test_single_replications_near_the_bound_give_no_verdict(points: Sequence[Run], low: float, verdict: str) -> None:
    """low: of the ratio that is measured."""
    groups = sweep_groups([points[0], points[2]])
    ratio = Ratio(metric="throughput", axis="clients", over="9", at="10", says="alike")
    (above, below) = (group.mean("throughput") for group in groups)
    (row,) = ratio_table(groups, [ratio.model_copy(update={"low": low * above / below})]).rows
    assert row.cells[2].text == verdict
    assert row.detail == (
        "There is one seed per point, and the ratio is close to a bound of the stated range: "
        "the difference may be chance."
        if verdict == "not comparable"
        else ""
    )


def test_unknown_sweep_metric_is_refused(points: Sequence[Run]) -> None:
    with pytest.raises(UserError, match=r"`show` names the metric `through_put`, which no report has: .*throughput"):
        sweep_table("figure", sweep_groups(points), ["through_put"])


def test_replay_is_not_a_point_of_a_sweep() -> None:
    assert swept({"engine": "qemu", "varied": {"clients": "10"}})
    assert not swept({"engine": "qemu"})
    assert not swept({"engine": "replay", "varied": {"l2.size": "1MiB"}})


@pytest.mark.parametrize("name", names(paths.EXPERIMENTS))
def test_metrics_shown_by_an_experiment_are_in_reports(name: str) -> None:
    check_shown(load_experiment(name, {}), name)


def variant(
    lab: Lab, made_runs: Path, label: str, runs: list[tuple[int, int, float]], invalid: tuple[int, ...] = ()
) -> Group:
    """A group of runs (boot, seed, misses per 1000 instructions). invalid: the boots whose runs are invalid."""
    folders = [
        lab.results
        / "runs"
        / add_run(
            lab,
            made_runs / "imape-1",
            boot,
            USUAL | {"l2_mpki.all": misses},
            Options(),
            seed=seed,
            valid=boot not in invalid,
        )
        for boot, seed, misses in runs
    ]
    (group,) = read_groups(folders)
    return replace(group, label=label)


def cells(table: Table) -> dict[str, dict[str, str]]:
    return {row.label: dict(zip(table.columns, (cell.text for cell in row.cells), strict=True)) for row in table.rows}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


def test_interval_of_several_boots_is_over_the_boots(lab: Lab, made_runs: Path) -> None:
    """The two seeds of boot 1 count as one value, 2."""
    group = variant(lab, made_runs, "none", [(1, 1, 1.0), (1, 2, 3.0), (2, 1, 4.0)])
    table = ablation_table("ablation", [group])
    assert cells(table)["none"]["MPKI"] == "3.000 ± 12.706"
    assert (
        "means over the boots ± 95% confidence intervals. The value of a boot is the mean over its seeds" in table.note
    )


def test_invalid_run_is_left_out_of_the_means_and_named(lab: Lab, made_runs: Path) -> None:
    runs = [(1, 1, 1.0), (2, 1, 3.0), (3, 1, 99.0)]
    table = ablation_table("ablation", [variant(lab, made_runs, "all", runs, invalid=(3,))])
    assert cells(table)["all"]["MPKI"].startswith("2.000 ")
    assert cells(table)["all"]["runs"] == "2"
    assert "all: 2 of 3 runs are valid." in table.note
    assert "Boot 3: seed 1: 2.20 closed-loop cycles per client measured, 3 are needed." in table.note


def test_valid_runs_are_not_mentioned_in_the_note(lab: Lab, made_runs: Path) -> None:
    table = ablation_table("ablation", [variant(lab, made_runs, "all", [(1, 1, 1.0), (2, 1, 3.0)])])
    assert "valid" not in table.note
