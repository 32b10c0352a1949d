# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab sweep`: the designs of the grid, their runs, and their table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.commands.compared import add_boots
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.commands.compare import show
from s80lab.commands.sides import Selection
from s80lab.commands.sweep import compare_designs, designs
from s80lab.config.grid import Grid
from s80lab.experiment.plan import Options


def test_grid_has_every_combination_as_options_of_run() -> None:
    grid = Grid.parse(["protocol=moesi,mesi", "l2.size=2MiB..8MiB"], "sweep")
    points = designs("imapb", grid, ["l2.ways=8"])
    assert [point.side.label for point in points[:2]] == [
        "imapb --protocol moesi --set l2.ways=8 --set l2.size=2MiB",
        "imapb --protocol moesi --set l2.ways=8 --set l2.size=4MiB",
    ]
    assert len(points) == 6 and points[-1].label == "mesi, l2.size 8MiB"


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ([], "sweep needs at least one --vary option, for example"),
        (["protocol=moesi"], "the grid of --vary has one design; give a key at least two values"),
        (["cores=1,2"], "--vary cores is for captures; vary processors.threads_per_core instead"),
        (["l2.size"], "--vary l2.size: expected KEY=VALUES"),
    ],
)
def test_wrong_grid_is_refused_with_the_remedy(vary: list[str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        designs("imapb", Grid.parse(vary, "sweep"), [])


def test_list_names_each_design_boot_and_seed(lab: Lab) -> None:
    words = ("sweep", "imapb", "--vary", "protocol=moesi,mesi", "--vary", "l2.size=2MiB,8MiB", "--boots", "1,2")
    told = json.loads(lab.answer(*words, "--scale", "tiny", "--list", "--json"))
    jobs = {job["job"] for job in told["jobs"]}
    assert len(jobs) == 8 and "imapb · mesi · l2.size=2MiB at tiny, boot 2, seed 1" in jobs
    assert {"imapb at tiny, seed 1", "imapb · mesi at tiny, seed 1"} < jobs


def test_sweep_compares_later_designs_with_the_first(
    made_runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    points = designs("imapb", Grid.parse(["protocol=moesi,mesi,msi"], "sweep"), [])
    with lab.entered():
        add_boots(lab, made_runs / "imape-1", Options())
        add_boots(lab, made_runs / "imape-1", Options(protocol="mesi"), l2_mpki_all=0.1)
        add_boots(lab, made_runs / "imape-1", Options(protocol="msi"), e_share=-0.3)
        comparisons, remarks = compare_designs(points, Selection())
        show(comparisons, remarks, False)
    assert [(one.first.label, one.second.label, one.together) for one in comparisons] == [
        ("moesi", "mesi", 2),
        ("moesi", "msi", 2),
    ]
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line for line in printed.splitlines() if line.startswith(("moesi", "mesi", "msi"))}
    assert "0.500" in rows["moesi"] and "+0.100 ± 0.000 *" in rows["mesi"] and "-30.0 ± 0.0 *" in rows["msi"]
    assert "corrected for 10 tests" in " ".join(printed.split())
    page = Path(printed.splitlines()[-1].removeprefix("report: ")).read_text()
    assert "mesi: Headline" in page and "msi: Headline" in page
    assert page.count("<figure ") == 4, "the differences, and the machine of each design"
