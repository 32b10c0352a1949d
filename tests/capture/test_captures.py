# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of captures: a name that is not one capture's, or files that are not there, are told in a sentence."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console
from tests.base.test_staging import flip_last_byte, leave_partial
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import Board
from s80lab.base.store import now
from s80lab.base.transfer import export, take_in
from s80lab.capture import replay as replay_module
from s80lab.capture.design import resolve_design
from s80lab.capture.live import Recipe, lengths, make
from s80lab.capture.process import Played, play
from s80lab.capture.replay import design_key, replay
from s80lab.capture.store import STORE, Form, Manifest, Totals, open_capture
from s80lab.config.experiment import Phases
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options, planner
from s80lab.guest.qemu import Qemu
from s80lab.image import build
from s80lab.image.build import ImageManifest
from s80lab.results.run_folder import WARM_SNAPSHOTS

GIGA = 1_000_000_000
PHASES = Phases(warmup_min=10 * GIGA, warmup_max=16 * GIGA, measure=3 * GIGA, sampling_interval=GIGA // 2)


def keep(name: str, source: Path, form: Form = "full") -> Manifest:
    """The file as a capture of the store."""
    folder = STORE.folder(name)
    folder.mkdir(parents=True)
    shutil.copyfile(source, folder / f"{form}.s80c")
    shutil.copyfile(paths.PROTOCOLS / "moesi.toml", folder / "protocol.toml")
    inputs = {"name": name}
    manifest = Manifest(
        name=name,
        key=value_hash(inputs),
        inputs=inputs,
        files=STORE.hash_files(folder, (f"{form}.s80c", "protocol.toml")),
        wall_s=1.0,
        created=now(),
        experiment="imapb",
        scale="tiny",
        seed=1,
        start="ready",
        skip=0,
        measure=1,
        live_mips=1.0,
        forms={
            form: Totals(
                bytes=source.stat().st_size,
                events=1,
                accesses=1,
                instructions=1,
                replay_mips=1.0,
                identical=True,
                differences={},
            )
        },
    )
    STORE.record(manifest)
    return manifest


def test_clients_that_follow_scripts_are_recorded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their job has no think time; their results say 0."""
    image = tmp_path / "image" / "debian-dovecot-plain"
    image.mkdir(parents=True)
    said = ImageManifest(
        inputs_sha256="",
        vmlinuz_sha256="",
        initramfs_sha256="",
        vmlinuz_bytes=0,
        initramfs_bytes=0,
        kernel_version="6.1",
        packages={},
    )
    (image / "manifest.json").write_text(said.model_dump_json())
    for name in ("vmlinuz", "initramfs.cpio"):
        (image / name).touch()
    monkeypatch.setattr(build, "BUILD", tmp_path)
    (plan,) = planner("clientscaler", Options(scale="tiny", seeds=[1]))(Qemu(paths.PLUGIN, "10.0"))
    ready = plan.keys.wanted("ready")
    manifest = checkpoint.Manifest(
        name=ready.name, key=ready.key, inputs=ready.inputs, files={}, wall_s=1.0, created=now(), stage="ready"
    )
    recipe = Recipe(plan, ("filtered",), checkpoint.Checkpoint(manifest, tmp_path), 1, 1)
    origin = json.loads(recipe.origin())
    assert (origin["clients"], origin["think_ms"]) == (32, 0.0)


def test_replay_with_warm_up_differs_in_design_key_from_one_without(drawn_file: Path, tmp_path: Path) -> None:
    """It may be warm, the other is not: a file that was copied out of the store has lost what lay beside it."""
    (tmp_path / "store").mkdir()
    files = [Path(shutil.copy(drawn_file, folder / "full.s80c")) for folder in (tmp_path, tmp_path / "store")]
    (tmp_path / "store" / WARM_SNAPSHOTS).write_text("intervals")
    alone, beside = (replace(open_capture(str(file)), warm=True) for file in files)
    own, other = resolve_design(alone), resolve_design(alone, settings={"l2.size": "128KiB"})
    assert design_key(alone, own) != design_key(beside, own)
    assert design_key(alone, other) == design_key(beside, other)


def test_recording_removes_remains_of_a_killed_recording(inside: Lab, drawn_file: Path) -> None:
    made = keep("imapb-tiny-a", drawn_file)
    leave_partial(STORE.folder("imapb-tiny-b"))
    recipe = cast(Recipe, SimpleNamespace(name=made.name, inputs=made.inputs))
    job = Board(Console(quiet=True)).job("")
    assert asyncio.run(make(recipe, asyncio.Semaphore(1), job, again=False)) == made
    assert inside.partial() == []


def test_import_removes_remains_of_a_killed_import(inside: Lab, drawn_file: Path, tmp_path: Path) -> None:
    made = keep("imapb-tiny-a", drawn_file)
    lies = export(STORE, "imapb", tmp_path / "disk")
    leave_partial(STORE.folder("imapb-tiny-a"))
    assert take_in(STORE, lies) == (made, False)
    assert inside.partial() == []


def test_capture_is_opened_by_unique_name_prefix(inside: Lab, drawn_file: Path) -> None:
    keep("imapb-tiny-a", drawn_file)
    keep("imape-tiny-b", drawn_file)
    opened = open_capture("imapb")
    assert opened.path == inside.captures / "imapb-tiny-a" / "full.s80c"
    assert opened.sha256 == STORE.all()[0].files["full.s80c"].sha256
    with pytest.raises(UserError, match="several captures begin with `imap`: imapb-tiny-a, imape-tiny-b"):
        open_capture("imap")
    with pytest.raises(UserError, match=r"there is no capture `raid` in .*: allowed are imapb-tiny-a, imape-tiny-b"):
        open_capture("raid")


def test_form_that_was_not_recorded_is_refused_with_remedy(inside: Lab, drawn_file: Path) -> None:
    keep("imapb-tiny-a", drawn_file)
    with pytest.raises(
        UserError,
        match="only the form full, not the form filtered; record a capture of this form with `s80lab capture imapb",
    ):
        open_capture("imapb", "filtered")


def test_capture_without_its_file_is_refused(inside: Lab, drawn_file: Path) -> None:
    keep("imapb-tiny-a", drawn_file)
    (inside.captures / "imapb-tiny-a" / "full.s80c").unlink()
    with pytest.raises(
        UserError,
        match=r"cannot be used \(a file is missing or has another length\); record the capture again with `s80lab "
        "capture imapb --scale tiny",
    ):
        open_capture("imapb")


def test_list_verify_and_prune(inside: Lab, drawn_file: Path) -> None:
    keep("imapb-tiny-a", drawn_file)
    keep("imapb-tiny-b", drawn_file)
    assert inside.call("captures", "list").count("full 0 MB") == 2
    assert inside.call("captures", "verify").splitlines() == ["imapb-tiny-a: whole", "imapb-tiny-b: whole"]
    with (inside.captures / "imapb-tiny-a" / "full.s80c").open("r+b") as file:
        file.write(b"x")
    assert "imapb-tiny-a: damaged" in inside.call("captures", "verify", code=1)
    said = inside.call("captures", "prune", "--keep", "imapb-tiny-b", "--yes")
    assert said == "imapb-tiny-a: 0 MB, built in 1 s\n1 capture, 0 MB removed\n"
    assert [one.name for one in STORE.all()] == ["imapb-tiny-b"]


@pytest.mark.parametrize("name", ["full.s80c", "protocol.toml"])
def test_changed_file_of_a_capture_is_refused(inside: Lab, drawn_file: Path, name: str) -> None:
    keep("imapb-tiny-a", drawn_file)
    flip_last_byte(inside.captures / "imapb-tiny-a" / name)
    assert "imapb-tiny-a: damaged" in inside.call("captures", "verify", code=1)
    with pytest.raises(UserError, match=f"{name}: the file has changed since s80lab wrote it; remove the folder"):
        open_capture("imapb")


def test_capture_without_a_hash_of_its_protocol_is_refused(inside: Lab, drawn_file: Path) -> None:
    """Older versions of s80lab did not record this hash."""
    made = keep("imapb-tiny-a", drawn_file)
    STORE.record(made.model_copy(update={"files": {"full.s80c": made.files["full.s80c"]}}))
    with pytest.raises(UserError, match=r"without a hash of protocol.toml\); record the capture again with `s80lab"):
        open_capture("imapb")


def test_warm_capture_needs_a_hash_of_its_warm_up(inside: Lab, drawn_file: Path) -> None:
    made = keep("imapb-tiny-a", drawn_file)
    assert made.model_copy(update={"start": "warm"}).unlisted == (WARM_SNAPSHOTS,)


@pytest.mark.parametrize(
    ("stage", "forms", "instructions", "warm_up", "expected"),
    [
        ("ready", ["filtered"], None, None, (7 * GIGA, 3 * GIGA)),
        ("warm", ["full"], None, None, (0, 200_000_000)),
        ("ready", ["filtered", "full"], None, None, (2 * GIGA, GIGA)),
        ("ready", ["filtered"], 5, None, (10 * GIGA - 5, 5)),
        ("ready", ["filtered"], 5, 6, (6, 5)),
        ("ready", ["filtered"], 20 * GIGA, None, (9 * GIGA // 2, 20 * GIGA)),
    ],
)
def test_capture_lengths_depend_on_stage_and_forms(
    stage: str, forms: list[Form], instructions: int | None, warm_up: int | None, expected: tuple[int, int]
) -> None:
    assert lengths(PHASES, stage, forms, instructions, warm_up) == expected


def test_two_at_the_same_time_are_one(drawn_file: Path, inside: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would put its folder in the other's place, which the other reads."""
    begun = []

    async def counted(*arguments: Any, **options: Any) -> Played:
        begun.append(arguments)
        return await play(*arguments, **options)

    async def both() -> list[Path]:
        capture = open_capture(str(drawn_file))
        design = resolve_design(capture, None, None, {})
        return await asyncio.gather(*(replay(capture, design, lambda done, total: None) for _ in range(2)))

    monkeypatch.setattr(replay_module, "play", counted)
    assert list(dict.fromkeys(asyncio.run(both()))) == inside.runs()
    assert len(begun) == 1
