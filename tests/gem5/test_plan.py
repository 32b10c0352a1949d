# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment becomes for gem5, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_experiment
from s80lab.experiment.plan import Options
from s80lab.gem5.plan import Gem5Plan, gem5_plans

# configs/gem5/board.py: what fits between gem5's command line and its boot parameters.
LONGEST_COMMAND_LINE = 511


def plans(tmp_path: Path, options: Options, name: str = "imapb") -> list[Gem5Plan]:
    gem5 = tmp_path / "gem5.fast"
    gem5.write_text("#!/bin/sh\n")
    gem5.chmod(0o755)
    return gem5_plans(name, options)(gem5)


@pytest.mark.parametrize("name", ["imapb", "imape"])
@pytest.mark.parametrize("machine", ["s80", "s80-sixteenth"])
def test_shipped_experiments_run_in_gem5(lab: Lab, tmp_path: Path, name: str, machine: str) -> None:
    (plan,) = plans(tmp_path, Options(machine=machine), name)
    assert len(plan.command_line()) <= LONGEST_COMMAND_LINE
    assert plan.machine.l2.inclusion == "exclusive" and plan.machine.protocol == "hammer"
    assert plan.phases.warmup % plan.phases.sampling_interval == 0
    # s80lab gem5 compare holds the two engines against each other at this warm-up.
    part = load_experiment(name, {}).gem5
    assert part is not None
    model = plan.experiment.phases[part.scale]
    assert (model.warmup_min, model.warmup_max) == (part.settle, part.settle)


def test_gem5_checkpoint_is_shared_by_different_cache_designs(lab: Lab, tmp_path: Path) -> None:
    (large,) = plans(tmp_path, Options(machine="s80"))
    (small,) = plans(tmp_path, Options(machine="s80-sixteenth", settings={"l2.size": "1MiB"}))
    assert large.keys.warm.key == small.keys.warm.key
    assert large.keys.run_inputs("x") != small.keys.run_inputs("x")


def test_seeds_have_checkpoints_of_their_own(lab: Lab, tmp_path: Path) -> None:
    one, two = plans(tmp_path, Options(seeds=[1, 2]))
    assert one.keys.ready.key == two.keys.ready.key and one.keys.warm.key != two.keys.warm.key


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (Options(machine="classroom"), r"\[gem5.phases.classroom\] with the lengths for machine classroom is missing"),
        (Options(protocol="mesi"), "supports only the protocol MOESI_hammer; use --protocol hammer"),
        (Options(settings={"scale.storage": "disk"}), "in gem5 the guest keeps its mail in memory"),
        (Options(scale="paper"), "has 8 GiB of memory, but the PC that gem5 simulates supports 3 GiB at most"),
    ],
)
def test_design_that_gem5_cannot_simulate_is_refused(lab: Lab, tmp_path: Path, options: Options, refusal: str) -> None:
    with pytest.raises(UserError, match=refusal):
        plans(tmp_path, options)


SWEEP = """
[gem5.sweep]
"l2.size" = ["512KiB", "1MiB"]
"ruby.probe_filter" = [0, "2MiB"]
"""


@pytest.fixture
def swept(with_sweep: Callable[[str], Path]) -> Path:
    return with_sweep(SWEEP)


def test_gem5_sweep_has_all_combinations_from_one_checkpoint(lab: Lab, swept: Path, tmp_path: Path) -> None:
    found = plans(tmp_path, Options(machine="s80-sixteenth"), "swept")
    assert [plan.label for plan in found] == [
        "l2.size 512KiB, ruby.probe_filter 0",
        "l2.size 512KiB, ruby.probe_filter 2MiB",
        "l2.size 1MiB, ruby.probe_filter 0",
        "l2.size 1MiB, ruby.probe_filter 2MiB",
    ]
    assert [(plan.design["l2.size"], plan.design["ruby.probe_filter"]) for plan in found] == [
        (512 << 10, 0),
        (512 << 10, 2 << 20),
        (1 << 20, 0),
        (1 << 20, 2 << 20),
    ]
    assert (
        len({plan.keys.warm.key for plan in found}) == 1
        and len({str(plan.keys.run_inputs("x")) for plan in found}) == 4
    )
    # An experiment of another name that runs the same mix takes the same checkpoint.
    (shipped,) = plans(tmp_path, Options(settings={"ruby.probe_filter": "2MiB"}), "swept")[:1]
    assert shipped.keys.warm.name.startswith("gem5-warm-imapb-sixteenth-s1-")
    assert "[ruby]\nprobe_filter = 2097152\n" in found[1].machine_text()


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ('"l2.sise" = [1]', r"unknown key `l2.sise`.*did you mean"),
        ('"ruby.probefilter" = [0]', r"\[gem5.ruby\]: unknown key `probefilter`.*probe_filter"),
        ('"ruby.probe_filter" = ["3MiB"]', "is 3145728 bytes; it must be a power of two of at least 1024"),
        ('"ruby.probe_filter" = []', "gem5.sweep.ruby.probe_filter"),
    ],
)
def test_gem5_sweep_over_unknown_setting_is_refused(
    lab: Lab, swept: Path, tmp_path: Path, wrong: str, refusal: str
) -> None:
    text = swept.read_text()
    swept.write_text(text[: text.index('"l2.size"')] + wrong + "\n")
    with pytest.raises(UserError, match=refusal):
        plans(tmp_path, Options(), "swept")


def test_gem5_run_without_gem5_is_refused_with_remedy(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEM5", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"gem5 was not found: give --gem5 PATH, set \$GEM5, or put gem5.fast on PATH"):
        gem5_plans("imapb", Options())(None)
