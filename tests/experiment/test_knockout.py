# SPDX-License-Identifier: GPL-2.0-or-later
"""Variants of a machine without some of the changes to its guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import load
from s80lab.commands.knockout import KNOCKOUTS, Change, Changes, variants
from s80lab.config.experiment import load_experiment
from s80lab.config.machine import Machine, load_machine

CHANGES = {
    "zone": Change(description="", words=("TZ=UTC0",)),
    "cpu": Change(description="", settings={"guest.cpu": "Westmere-v1"}),
}


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("s80")


def test_ablation_variants_are_none_single_changes_and_all(machine: Machine) -> None:
    found = {variant.name: variant.settings for variant in variants(CHANGES, machine)}
    assert list(found) == ["none", "zone alone", "cpu alone", "all"]
    without = " ".join(word for word in machine.guest.kernel_args.split() if word != "TZ=UTC0")
    assert found["none"] == {"guest.cpu": "Westmere-v1", "guest.kernel_args": without}
    assert found["zone alone"] == {"guest.cpu": "Westmere-v1"}
    assert found["cpu alone"] == {"guest.kernel_args": without}
    assert found["all"] == {}


def test_ablation_of_absent_kernel_argument_is_refused(machine: Machine) -> None:
    with pytest.raises(UserError, match=r"quieter, which are not in guest\.kernel_args of machine s80"):
        variants({"noise": Change(description="", words=("quieter",))}, machine)


def test_ablation_that_removes_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "knockouts.toml"
    path.write_text('[changes.nothing]\ndescription = "x"\n')
    with pytest.raises(UserError, match="would remove nothing"):
        load(path, Changes)


def test_ablation_lengths_override_those_of_the_scale() -> None:
    phases = load_experiment("imapb", {}).phases["sixteenth"]
    longer = Changes(changes={}, lengths={"sixteenth": {"measure": 7}}).lengthened
    assert longer(phases, "sixteenth") == phases.model_copy(update={"measure": 7})
    assert longer(phases, "small") == phases
    with pytest.raises(UserError, match=r"knockouts\.toml: lengths\.sixteenth: unknown key `measured`"):
        Changes(changes={}, lengths={"sixteenth": {"measured": 7}}).lengthened(phases, "sixteenth")
    shipped = load(KNOCKOUTS, Changes).lengthened(phases, "sixteenth")
    assert shipped.warmup_min < shipped.warmup_max


@pytest.mark.parametrize("name", ["s80", "s80-sixteenth"])
def test_shipped_ablations_apply_to_the_machine(name: str) -> None:
    for variant in variants(load(KNOCKOUTS, Changes).changes, load_machine(name)):
        load_machine(name, variant.settings)
        assert (variant.settings == {}) == (variant.name == "all")
    assert KNOCKOUTS.is_relative_to(paths.ROOT)
