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


def test_the_variants_are_none_each_alone_and_all(machine: Machine) -> None:
    found = {variant.name: variant.settings for variant in variants(CHANGES, machine)}
    assert list(found) == ["none", "zone alone", "cpu alone", "all"]
    without = " ".join(word for word in machine.guest.kernel_args.split() if word != "TZ=UTC0")
    assert found["none"] == {"guest.cpu": "Westmere-v1", "guest.kernel_args": without}
    assert found["zone alone"] == {"guest.cpu": "Westmere-v1"}
    assert found["cpu alone"] == {"guest.kernel_args": without}
    assert found["all"] == {}


def test_a_word_that_is_not_there_is_refused(machine: Machine) -> None:
    with pytest.raises(UserError, match=r"quieter, which are not in guest\.kernel_args of machine s80"):
        variants({"noise": Change(description="", words=("quieter",))}, machine)


def test_a_change_that_takes_nothing_out_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "knockouts.toml"
    path.write_text('[changes.nothing]\ndescription = "x"\n')
    with pytest.raises(UserError, match="would remove nothing"):
        load(path, Changes)


def test_a_scale_has_its_own_lengths_and_the_rest_of_the_experiments() -> None:
    phases = load_experiment("imapb", {}).phases["sixteenth"]
    longer = Changes(changes={}, lengths={"sixteenth": {"measure": 7}}).lengthened
    assert longer(phases, "sixteenth") == phases.model_copy(update={"measure": 7})
    assert longer(phases, "small") == phases
    with pytest.raises(UserError, match=r"knockouts\.toml: lengths\.sixteenth: unknown key `measured`"):
        Changes(changes={}, lengths={"sixteenth": {"measured": 7}}).lengthened(phases, "sixteenth")
    shipped = load(KNOCKOUTS, Changes).lengthened(phases, "sixteenth")
    assert shipped.warmup_min < shipped.warmup_max


@pytest.mark.parametrize("name", ["s80", "s80-sixteenth"])
def test_every_shipped_change_can_be_taken_out(name: str) -> None:
    for variant in variants(load(KNOCKOUTS, Changes).changes, load_machine(name)):
        load_machine(name, variant.settings)
        assert (variant.settings == {}) == (variant.name == "all")
    assert KNOCKOUTS.is_relative_to(paths.ROOT)
