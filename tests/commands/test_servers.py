# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of several servers in one laboratory are told apart; runs that name none are of the first."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.commands.compared import add_run
from tests.lab import Lab

from s80lab.analysis.groups import read_groups
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.changes import Changes
from s80lab.commands.measured import latest_runs, measured_runs
from s80lab.commands.pipeline import build_images
from s80lab.config.machine import load_machine
from s80lab.config.server import load_server
from s80lab.experiment.plan import Options
from s80lab.image import build
from s80lab.image.build import image_folder, is_current, load_image
from s80lab.results.database import insert_run, list_runs
from s80lab.results.run_folder import RunFolder


@pytest.fixture
def uw(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The laboratory's newest run of imape is of another server."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    folder = measured.results / "runs" / "imape-3"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"server": "uw"}))
    insert_run(measured.results / "s80lab.sqlite", RunFolder(folder))
    return folder


def test_latest_runs_are_those_of_the_server_of_the_experiment(uw: Path) -> None:
    assert uw not in latest_runs(["imape"], "tiny")
    assert latest_runs(["imape"], "tiny", changes=Changes(server="uw")) == [uw]
    with pytest.raises(UserError, match="contains no run of imape with the design in the experiment's file"):
        latest_runs(["imape"], "tiny", changes=Changes(server="cyrus"))


def test_latest_runs_leave_out_a_run_with_another_setting_of_the_guest(
    measured: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    folder = measured.results / "runs" / "imape-3"
    assert folder in latest_runs(["imape"], "tiny")
    manifest = json.loads((folder / "manifest.json").read_text())
    changed = {"scale": "tiny", "guest.kernel_args": "quiet"}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"differences": changed}))
    assert folder not in latest_runs(["imape"], "tiny")


def test_latest_runs_have_the_design_of_the_experiment(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with --set or --machine does not stand for the experiment."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    newest = measured.results / "runs" / "imape-3"
    assert newest in latest_runs(["imape"], "tiny")
    path = newest / "manifest.json"
    manifest = json.loads(path.read_text())
    for key, value in (("l2.size", 1 << 20), ("scale.storage", "disk"), ("workload.requests_max", 10)):
        path.write_text(json.dumps(manifest | {"design": manifest["design"] | {key: value}}))
        assert newest not in latest_runs(["imape"], "tiny")
        with pytest.raises(
            UserError, match="contains no run of imape, seed 13 with the design in the experiment's file"
        ):
            latest_runs(["imape"], "tiny", [13])


def test_latest_runs_include_those_of_different_boots(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    runs = {name: measured.results / "runs" / name for name in ("imape-1", "imape-2", "imape-3")}
    for boot, (name, folder) in enumerate(runs.items(), 1):
        manifest = json.loads((folder / "manifest.json").read_text())
        seed = 12 if name == "imape-3" else 11
        (folder / "manifest.json").write_text(json.dumps(manifest | {"seed": seed, "boot": boot}))
        insert_run(measured.results / "s80lab.sqlite", RunFolder(folder))
    assert latest_runs(["imape"], "tiny") == list(runs.values())
    assert latest_runs(["imape"], "tiny", [11]) == [runs["imape-1"], runs["imape-2"]]


def test_report_selects_runs_of_the_design_that_its_options_state(
    measured: Lab, made_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    mesi = Options(protocol="mesi", settings={"l2.size": "2MiB"})
    usual = add_run(measured, made_runs / "imape-1", 1, {"l2_mpki.all": 0.5}, Options())
    changed = [add_run(measured, made_runs / "imape-1", boot, {"l2_mpki.all": 0.7}, mesi) for boot in (1, 2)]
    assert [folder.name for folder in latest_runs(["imapb"], "small")] == [usual]
    options = ("--protocol", "mesi", "--set", "l2.size=2MiB", "--scale", "small")
    (group,) = json.loads(measured.call("report", "imapb", *options, "--json"))["groups"]
    assert group["runs"] == changed
    assert (group["seeds"], group["boots"], group["unit"]) == ([1, 1], [1, 2], "boot")
    assert "Runs: boots 1, 2: seed 1." in " ".join(measured.call("report", "imapb", *options).split())
    refused = measured.call("report", "imapb", "--set", "l2.size=4MiB", "--scale", "small", code=2)
    assert "and --set l2.size=4MiB; runs of other designs do not count: first make the run with" in refused
    assert "`s80lab run imapb --scale small --set l2.size=4MiB`" in " ".join(refused.split())


def test_image_with_different_inputs_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = load_server("uw")
    if not all((paths.BIN / program).is_file() for program in server.programs):
        pytest.skip(f"its programs are not built: they need {server.parts['uw'].needs}")
    build_images(["imapb"], Options(server="uw"))
    made = image_folder("debian", "uw")
    monkeypatch.setattr(build, "BUILD", tmp_path)
    folder = Path(shutil.copytree(made, image_folder("debian", "uw")))
    built = load_image(folder)
    assert is_current(folder, server)
    stale = built.model_copy(update={"inputs_sha256": "of another time"})
    (folder / "manifest.json").write_text(stale.model_dump_json())
    assert not is_current(folder, server)
    build_images(["imapb"], Options(server="uw"))
    assert load_image(folder) == built
    time = (folder / "initramfs.cpio").stat().st_mtime_ns
    build_images(["imapb"], Options(server="uw"))
    assert (folder / "initramfs.cpio").stat().st_mtime_ns == time


def test_database_and_report_name_the_server(uw: Path, measured: Lab) -> None:
    servers = {row["id"]: row["server"] for row in list_runs(measured.results / "s80lab.sqlite")}
    assert (servers["imape-3"], servers["imape-2"]) == ("uw", "dovecot")
    groups = read_groups([uw, uw.with_name("imape-1"), uw.with_name("imape-2")])
    assert [(group.label, len(group.runs)) for group in groups] == [("imape · tiny · uw", 1), ("imape · tiny", 2)]


def say(lab: Lab, folder: Path, **more: object) -> None:
    """Puts more into the run's manifest; its clients think as those of the others then."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))
    load = json.loads((folder / "transactions.json").read_text())
    (folder / "transactions.json").write_text(json.dumps(load | {"think_ms": 50}))
    insert_run(lab.results / "s80lab.sqlite", RunFolder(folder))


def test_runs_stand_for_a_workload_on_a_server(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    machine = load_machine("s80")

    says = partial(say, measured)
    runs = measured.results / "runs"
    plain = machine.design() | {"protocol": machine.protocol}
    for number in (1, 2, 3):
        says(runs / f"imape-{number}", design=plain, inputs={"initramfs": "new" if number < 3 else "old"})
        says(runs / f"imapb-{number}", design=plain | {"l2.size": 1}, inputs={})
    found = measured_runs(["imapb", "imape"], "tiny")
    assert found == {"imapb": [], "imape": [runs / "imape-1", runs / "imape-2"]}, "of one guest, of the usual machine"
    assert measured_runs(["imapb"], None) == {"imapb": []}, "at the experiment's own scale there is none"
    says(runs / "imapb-2", design=plain, image="another", inputs={})
    says(runs / "imapb-1", design=plain, server="uw", inputs={})
    assert measured_runs(["imapb"], "tiny") == {"imapb": [runs / "imapb-1"]}


def test_seeds_of_two_points_of_a_sweep_are_not_one_row(
    measured: Lab, with_sweep: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_sweep('\n[sweep]\n"l2.ways" = [2, 4]\n')
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    runs = measured.results / "runs"
    plain = load_machine("s80").design()
    for number, ways in ((1, 4), (2, 4), (3, 2)):
        of_point = {"design": plain | {"l2.ways": ways}, "varied": {"l2.ways": str(ways)}}
        say(measured, runs / f"imapb-{number}", experiment="swept", inputs={}, **of_point)
    assert measured_runs(["swept"], "tiny") == {"swept": [runs / "imapb-1", runs / "imapb-2"]}
