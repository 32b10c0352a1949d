# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot in segments survives a kill in each of them. The simulator is a stand-in with gem5's arguments and files: its
guest boots in five segments, and its checkpoint names the segments that it has been through."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.gem5.test_plan import plans
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.plan import Options
from s80lab.gem5 import boot
from s80lab.gem5.plan import Gem5Plan
from s80lab.gem5.stages import Gem5Pipeline
from s80lab.gem5.table import TICKS_PER_S

PRINTED = ("cpus 18", "store 100%", "note", "servers", "ready")
STAND_IN = """#!/usr/bin/env python3
import json, os, signal, sys, time
from pathlib import Path

here = Path(__file__).parent
given = dict(zip(sys.argv[5::2], sys.argv[6::2]))
out, save = Path(sys.argv[2]), Path(given["--save"])
before = (Path(given["--restore"]) / "m5.cpt").read_text() if "--restore" in given else ""
assert not before.startswith("#")
number = len(before.split()) + 1
with (here / "begun").open("a") as file:
    file.write(f"{number}\\n")
words = ["cpus 18", "store 100%", "note", "servers", "ready"]
(out / "board.pc.com_1.device").write_text(f"s80lab: {words[number - 1]}\\n")
(out / "progress.jsonl").write_text(json.dumps({"instructions": 1000, "ticks": number}) + "\\n")
save.mkdir(exist_ok=True)
(save / "m5.cpt").write_text(f"## checkpoint generated: {time.time_ns()}\\n{before}{number}\\n")
kill = here / "kill"
if kill.is_file() and int(kill.read_text()) == number:
    kill.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
(save / "board.physmem.store0.pmem").write_text(before)
facts = {"gem5": "24.0.0.1", "instructions": 1000, "ready": number == len(words)}
(out / "facts.json").write_text(json.dumps(facts))
"""


@pytest.fixture
def plan(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gem5Plan:
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    gem5 = tmp_path / "stand-in" / "gem5.fast"
    gem5.parent.mkdir()
    gem5.write_text(STAND_IN)
    gem5.chmod(0o755)
    return replace(plans(tmp_path, Options(machine="s80-sixteenth"))[0], gem5=gem5)


def build(plan: Gem5Plan) -> str:
    """Build the ready checkpoint; return what the progress says."""
    said = StringIO()

    async def ready() -> None:
        with Board(Console(file=said)) as board:
            await Gem5Pipeline(board)._build(plan, "ready", None)

    asyncio.run(ready())
    return said.getvalue()


def ready(plan: Gem5Plan) -> tuple[checkpoint.Checkpoint, str]:
    found = checkpoint.find(plan.keys.ready.name, plan.keys.ready.key)
    assert found is not None
    return found, (found.folder / "console.log").read_text()


def begun(plan: Gem5Plan) -> list[int]:
    """The numbers of the segments that the stand-in has begun."""
    return [int(line) for line in (plan.gem5.parent / "begun").read_text().split()]


def names() -> list[str]:
    return [one.manifest.name for one in checkpoint.all_checkpoints()]


def test_boot_in_segments_leaves_only_the_ready_checkpoint(plan: Gem5Plan) -> None:
    build(plan)
    found, console = ready(plan)
    assert (found.folder / "m5.cpt").read_text() == "1\n2\n3\n4\n5\n"
    assert console == "".join(f"s80lab: {word}\n" for word in PRINTED)
    record = found.manifest.boot
    assert record is not None
    assert (record.segments, record.instructions, record.printed) == (5, 5000, "ready")
    assert names() == [plan.keys.ready.name]
    assert [path.name for path in (found.folder.parent).iterdir() if path.is_dir()] == [plan.keys.ready.name]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_boot_killed_in_a_segment_repeats_only_this_segment(plan: Gem5Plan, number: int) -> None:
    (plan.gem5.parent / "kill").write_text(str(number))
    with pytest.raises(UserError) as refusal:
        build(plan)
    assert "gem5 was ended by signal SIGKILL" in str(refusal.value)
    left = names()
    assert left == [f"{plan.segment_prefix}{number - 1:03}"][: number - 1]
    said = build(plan)
    for name in left:
        assert f"resumes from {name}: boot: " in str(refusal.value)
        assert f"resumes from {name} (boot: " in said
    assert begun(plan) == [*range(1, number + 1), *range(number, 6)]
    found, console = ready(plan)
    assert (found.folder / "m5.cpt").read_text() == "1\n2\n3\n4\n5\n"
    assert console == "".join(f"s80lab: {word}\n" for word in PRINTED)
    assert found.manifest.boot is not None and found.manifest.boot.instructions == 5000
    assert names() == [plan.keys.ready.name]


def test_boot_killed_twice_gives_the_same_ready_checkpoint(
    plan: Gem5Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(plan)
    whole, _ = ready(plan)
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "others"))
    for number in ("2", "4"):
        (plan.gem5.parent / "kill").write_text(number)
        with pytest.raises(UserError):
            build(plan)
    build(plan)
    killed, _ = ready(plan)
    assert killed.folder != whole.folder
    assert killed.manifest.content == whole.manifest.content


def test_boot_does_not_resume_from_a_checkpoint_without_a_manifest(plan: Gem5Plan) -> None:
    (plan.gem5.parent / "kill").write_text("4")
    with pytest.raises(UserError):
        build(plan)
    (checkpoint.STORE.root() / f"{plan.segment_prefix}003.json").unlink()
    build(plan)
    assert begun(plan) == [1, 2, 3, 4, 1, 2, 3, 4, 5]


def test_boot_refuses_a_changed_checkpoint(plan: Gem5Plan) -> None:
    (plan.gem5.parent / "kill").write_text("4")
    with pytest.raises(UserError):
        build(plan)
    (checkpoint.STORE.folder(f"{plan.segment_prefix}003") / "m5.cpt").write_text("9\n9\n9\n")
    with pytest.raises(UserError, match="has changed since s80lab wrote it; remove the folder"):
        build(plan)


def test_boot_with_other_segment_length_starts_anew(plan: Gem5Plan) -> None:
    (plan.gem5.parent / "kill").write_text("2")
    with pytest.raises(UserError):
        build(plan)
    build(replace(plan, segment=plan.segment // 2))
    assert begun(plan) == [1, 2, 1, 2, 3, 4, 5]


def test_expected_instructions_are_those_of_the_last_boot(plan: Gem5Plan) -> None:
    estimate = boot.expected_instructions(plan, [])
    assert estimate == pytest.approx(3_760_000_000, rel=0.02), "the boot that was measured"
    build(plan)
    assert boot.expected_instructions(plan, checkpoint.STORE.all()) == 5000
    fewer = replace(plan, experiment=plan.experiment.model_copy(update={"clients": 4}))
    assert boot.expected_instructions(fewer, checkpoint.STORE.all()) < estimate


def test_guest_that_prints_nothing_hangs_across_segments(plan: Gem5Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each segment is shorter than the allowed silence."""
    silent = plan.gem5.read_text().replace('f"s80lab: {words[number - 1]}\\n"', '"hello\\n" if number == 1 else ""')
    plan.gem5.write_text(silent.replace('"ticks": number', f'"ticks": number * {20 * TICKS_PER_S}'))
    with pytest.raises(UserError, match="hangs: it has printed nothing for 60 s of simulated time"):
        build(plan)
    assert begun(plan)[-1] == 5


def test_saved_segments_are_listed_with_their_progress(plan: Gem5Plan, tmp_path: Path) -> None:
    (plan.gem5.parent / "kill").write_text("4")
    with pytest.raises(UserError):
        build(plan)
    own = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert "gem5, boot: note, 0 M instructions, " in own.call("checkpoint", "list")
    (entry,) = json.loads(own.call("checkpoint", "list", "--json"))
    assert (entry["stage"], entry["boot"]["segments"]) == ("boot", 3)
    assert own.call("checkpoint", "verify") == f"{plan.segment_prefix}003: whole\n"


def test_boot_asks_for_its_memory_before_it_starts(plan: Gem5Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "available_memory", lambda: 7 << 30)
    refusal = r"7.5 GiB of memory are needed, but 7.0 GiB are available: end other programs, or run fewer"
    with Board(Console(quiet=True)) as board, pytest.raises(UserError, match=refusal):
        asyncio.run(Gem5Pipeline(board).go([plan], "ready"))
    assert not (plan.gem5.parent / "begun").exists()


def test_time_left_counts_only_the_rest_of_a_resumed_boot(plan: Gem5Plan) -> None:
    whole = boot.remaining_instructions(plan)
    (plan.gem5.parent / "kill").write_text("4")
    with pytest.raises(UserError):
        build(plan)
    assert boot.remaining_instructions(plan) == whole - 3000
