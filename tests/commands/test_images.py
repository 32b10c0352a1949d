# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on several images in one laboratory are told apart; runs that name none are on Debian's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.analysis.groups import read_groups
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands import pipeline
from s80lab.commands.changes import Changes
from s80lab.commands.measured import latest_runs
from s80lab.commands.pipeline import build_images
from s80lab.config.experiment import load_experiment
from s80lab.experiment.entries import manifest_entries
from s80lab.experiment.plan import Options, planner
from s80lab.guest.qemu import find_qemu
from s80lab.image import build
from s80lab.results.run_folder import RunFolder


@pytest.fixture
def other(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The laboratory's newest run of imape is on another image."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    folder = measured.results / "runs" / "imape-3"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"image": "buildroot"}))
    return folder


def test_latest_runs_are_those_on_the_image_of_the_experiment(other: Path) -> None:
    assert RunFolder(other.with_name("imape-2")).manifest["image"] == "debian"
    assert other not in latest_runs(["imape"], "tiny")
    assert latest_runs(["imape"], "tiny", changes=Changes(image="buildroot")) == [other]
    with pytest.raises(UserError, match="contains no run of imape with the design in the experiment's file"):
        latest_runs(["imape"], "tiny", changes=Changes(image="buildroot.fast"))


def test_report_groups_runs_by_image(other: Path) -> None:
    groups = read_groups([other, other.with_name("imape-1"), other.with_name("imape-2")])
    assert [(group.label, len(group.runs)) for group in groups] == [
        ("imape · tiny · buildroot", 1),
        ("imape · tiny", 2),
    ]


def test_image_names_are_limited_to_images_that_can_be_built() -> None:
    for name in ("debian", "buildroot", "buildroot.o3"):
        assert load_experiment("imapb", {"image": name}).image == name
    for name in ("gentoo", "buildroot.", "buildroot.O3", "debian.o3"):
        with pytest.raises(UserError, match=rf"key `image`.*`{name}` is not an image: write debian, buildroot or"):
            load_experiment("imapb", {"image": name})


def test_swept_image_gives_one_plan_per_image(
    lab: Lab, with_sweep: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_sweep('\n[sweep]\nimage = ["debian", "buildroot"]\n')
    (tmp_path / "image").mkdir()
    for name in ("debian", "buildroot"):
        (tmp_path / "image" / name).symlink_to(paths.BUILD / "image" / "debian")
    monkeypatch.setattr(build, "BUILD", tmp_path)
    one, other = planner("swept", Options(seeds=[1]))(find_qemu())
    assert [plan.image.name for plan in (one, other)] == ["debian", "buildroot"]
    assert (manifest_entries(one)["image"], manifest_entries(other)["image"], other.label) == (
        "debian",
        "buildroot",
        "buildroot",
    )
    with pytest.raises(UserError, match="sweeps `image`: omit --image"):
        planner("swept", Options(image="buildroot"))


def test_wrong_options_are_refused_before_an_image_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "build_images", lambda *_: pytest.fail("an image is made first"))
    with pytest.raises(UserError, match="there is no machine `s70`"):
        pipeline.make_plans(["imapb"], Options(machine="s70"))
    with pytest.raises(UserError, match="there is no scale `giant`"):
        pipeline.run_gem5(["imapb"], Options(scale="giant"), None, 0, False, "run")


def test_buildroot_image_without_buildroot_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.delenv("BUILDROOT", raising=False)
    with pytest.raises(UserError, match="Buildroot was not found: give --buildroot PATH"):
        build_images(["imapb"], Options(image="buildroot"))
    with pytest.raises(UserError, match=r"`s80lab image build --image buildroot --server dovecot-pop3`"):
        build.load_image(build.image_folder("buildroot", "dovecot-pop3"))


def test_named_buildroot_image_is_not_built_implicitly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built on the way to a run, it would be the usual image under another's name."""
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setenv("BUILDROOT", str(tmp_path))
    with pytest.raises(
        UserError, match=r"image buildroot\.o0 for server uw has not been built, .*: build it with `s80lab"
    ):
        build_images(["imapb"], Options(image="buildroot.o0", server="uw"))
