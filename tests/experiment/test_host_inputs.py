# SPDX-License-Identifier: GPL-2.0-or-later
"""Checkpoints of another host or build: the import and the next run say which inputs differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from s80lab.base import paths
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.transfer import export
from s80lab.commands.line.stores import ImportArguments
from s80lab.commands.stores import import_entries
from s80lab.experiment import host_inputs
from s80lab.experiment.checkpoint import GUEST_STATE, MODEL_STATE, STORE, Checkpoint, Keys, Stage, Wanted, add
from s80lab.experiment.host_inputs import Installation, unused
from s80lab.experiment.plan import Plan
from s80lab.guest.command import RAM_FILE
from s80lab.guest.qemu import Qemu
from s80lab.image.build import ImageManifest
from s80lab.results.run_folder import SNAPSHOTS

OURS = {"kernel": "k", "initramfs": "i", "guest_options": "o", "ready": "r", "machine": "m"}


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with QEMU 10.0.2, a plugin and an image."""
    qemu, plugin, image = tmp_path / "qemu", tmp_path / "libs80lab.so", tmp_path / "build" / "image" / "debian-uw"
    qemu.write_text("our QEMU")
    plugin.write_text("our plugin")
    image.mkdir(parents=True)
    manifest = ImageManifest(
        inputs_sha256="",
        vmlinuz_sha256="k",
        initramfs_sha256="i",
        vmlinuz_bytes=0,
        initramfs_bytes=0,
        kernel_version="6.1",
        packages={},
    )
    (image / "manifest.json").write_text(manifest.model_dump_json())
    for file in ("vmlinuz", "initramfs.cpio"):
        (image / file).touch()
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "here"))
    monkeypatch.setattr("s80lab.image.build.BUILD", tmp_path / "build")
    monkeypatch.setattr(paths, "PLUGIN", plugin)
    monkeypatch.setattr(host_inputs, "present_qemu", lambda: Qemu(qemu, "10.0.2"))
    return tmp_path


def ours() -> dict[str, str]:
    """The inputs of a checkpoint of this lab."""
    programs = {"qemu": file_hash(paths.PLUGIN.with_name("qemu")), "plugin": file_hash(paths.PLUGIN)}
    return OURS | programs


def wanted(changed: Mapping[str, str] | None = None, stage: Stage = "warm") -> Wanted:
    inputs = ours() | dict(changed or {})
    key = value_hash(inputs)
    return Wanted(stage, f"{stage}-mix-tiny-s1-{key[:8]}", key, inputs)


def plan() -> Plan:
    """A plan for the checkpoints of this lab."""
    return cast(Plan, SimpleNamespace(keys=Keys(wanted(stage="ready"), wanted(), {})))


def keep(tmp_path: Path, what: Wanted, qemu: str = "10.0.2") -> Checkpoint:
    source = tmp_path / "source"
    source.mkdir()
    for file in (RAM_FILE, GUEST_STATE, MODEL_STATE, SNAPSHOTS):
        (source / file).write_text(file)
    warmup = {"verdict": "warm", "instructions": 1, "drift_points": {}, "mips": 1.0}
    made = add(what, source, 1.0, {"qemu_version": qemu, "warmup": warmup})
    source.rmdir()
    return made


def imported(tmp_path: Path, made: Checkpoint, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> str:
    lies = export(STORE, made.manifest.name, tmp_path / "usb")
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "there"))
    import_entries(ImportArguments([lies]), "checkpoint")
    assert STORE.listed(made.manifest.name) is not None
    return str(capsys.readouterr().out).removeprefix(f"{made.manifest.name}: ")


def test_import_of_usable_checkpoint_says_only_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(tmp_path, keep(tmp_path, wanted()), monkeypatch, capsys) == "imported\n"


@pytest.mark.parametrize(
    ("changed", "version", "names"),
    [
        ({"qemu": "other"}, "9.2.1", "QEMU (9.2.1, here 10.0.2)"),
        ({"qemu": "other", "plugin": "other"}, "10.0.2", "QEMU (another build of 10.0.2), plugin"),
        ({"initramfs": "other"}, "10.0.2", "initramfs"),
        ({"kernel": "other", "initramfs": "other", "machine": "other"}, "10.0.2", "kernel, initramfs"),
    ],
)
def test_import_of_checkpoint_of_another_host_names_what_differs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    version: str,
    names: str,
) -> None:
    made = keep(tmp_path, wanted(changed), version)
    assert imported(tmp_path, made, monkeypatch, capsys) == (
        f"imported, but no run can use it here, because these inputs differ: {names}; install what made it "
        "(docs/guides/clusters.md), or let `s80lab run` build another one\n"
    )


def test_host_without_qemu_does_not_compare_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_inputs, "present_qemu", lambda: None)
    assert Installation().missing_inputs(keep(tmp_path, wanted({"qemu": "other", "plugin": "other"})).manifest) == {
        "plugin": "plugin"
    }


def test_changed_script_for_gem5_is_named(tmp_path: Path) -> None:
    script = "configs/gem5/board.py"
    assert (
        Installation().missing_inputs(keep(tmp_path, wanted({script: file_hash(paths.ROOT / script)})).manifest) == {}
    )
    assert Installation().missing_inputs(keep(tmp_path, wanted({script: "other"})).manifest) == {script: script}


def test_run_says_why_the_checkpoint_of_another_host_is_not_used(tmp_path: Path) -> None:
    """Of several, the nearest. What follows from other inputs is not named."""
    keep(tmp_path, wanted({"plugin": "older", "qemu": "older", "machine": "older"}))
    made = keep(tmp_path, wanted({"plugin": "other", "ready": "other"}))
    assert unused([plan()]) == [f"checkpoint {made.manifest.name} is not used, because these inputs differ: plugin"]
    assert unused([plan()], until="ready") == []


def test_run_names_every_input_that_differs_from_the_checkpoint_of_another_release(tmp_path: Path) -> None:
    keep(tmp_path, wanted({"plugin": "other", "machine": "other"}))
    assert [why.partition(": ")[2] for why in unused([plan()])] == ["machine, plugin"]


def test_run_of_another_design_says_nothing(tmp_path: Path) -> None:
    """A command chooses the machine, so no run names the difference."""
    keep(tmp_path, wanted({"machine": "other"}))
    assert unused([plan()]) == []


def test_checkpoint_without_its_files_is_not_named(tmp_path: Path) -> None:
    made = keep(tmp_path, wanted({"plugin": "other"}))
    (made.folder / GUEST_STATE).unlink()
    assert unused([plan()]) == []
