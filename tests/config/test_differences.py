# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs from an experiment's file, and the labels and names that say so."""

from __future__ import annotations

from typing import Any

import pytest

from s80lab.config.differences import differences, find_differences, label, slug, words
from s80lab.config.machine import load_machine

S80 = load_machine("s80").design()
MESI_2M = {"protocol": "mesi", "l2.size": "2MiB"}


def manifest(**changed: Any) -> dict[str, Any]:
    """The manifest of a run as the file of the experiment imapb describes it, with changes."""
    names = {"experiment": "imapb", "engine": "qemu", "machine": "s80", "protocol": "moesi", "image": "debian"}
    rest = {
        "server": "dovecot",
        "workload": "imapb",
        "scale": "small",
        "seed": 7,
        "design": load_machine("s80").design(),
    }
    return {**names, **rest, **changed}


def test_run_as_in_the_file_has_no_differences() -> None:
    assert differences(manifest()) == {}
    assert differences(manifest(seed=99)) == {}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"protocol": "mesi"}, {"protocol": "mesi"}),
        ({"scale": "tiny"}, {"scale": "tiny"}),
        ({"server": "courier", "image": "buildroot"}, {"server": "courier", "image": "buildroot"}),
        (
            {"design": load_machine("s80", {"l2.size": "2MiB", "l2.ways": 8}).design()},
            {"l2.size": "2MiB", "l2.ways": "8"},
        ),
        ({"varied": {"clients": "9"}}, {"clients": "9"}),
    ],
)
def test_changed_value_is_found(changed: dict[str, Any], found: dict[str, str]) -> None:
    assert differences(manifest(**changed)) == found


def test_machine_with_its_own_protocol_differs_only_in_the_machine() -> None:
    machine = load_machine("e6500")
    changed = manifest(machine=machine.name, protocol=machine.protocol, design=machine.design())
    assert differences(changed) == {"machine": "e6500"}


def test_inclusion_that_the_protocol_requires_is_no_difference_of_its_own() -> None:
    design = load_machine("s80", {"l2.inclusion": "exclusive"}).design()
    assert differences(manifest(protocol="hammer", design=design)) == {"protocol": "hammer"}
    assert differences(manifest(protocol="hammer")) == {"protocol": "hammer", "l2.inclusion": "inclusive"}


def test_optional_table_shows_only_the_changed_key() -> None:
    design = load_machine("s80", {"bandwidth.bus": 4}).design()
    assert differences(manifest(design=design)) == {"bandwidth.bus": "4"}


def test_setting_of_the_guest_is_found_although_no_design_has_it() -> None:
    guest = load_machine("s80").guest.model_dump()
    assert find_differences(manifest(), guest) == {}
    assert find_differences(manifest(), {**guest, "kernel_args": "quiet"}) == {"guest.kernel_args": "quiet"}


def test_machine_without_a_file_is_compared_with_the_machine_of_the_experiment() -> None:
    design = load_machine("s80", {"l2.size": "4MiB"}).design()
    assert differences(manifest(machine="mine", design=design)) == {"machine": "mine", "l2.size": "4MiB"}


def test_protocol_without_a_table_in_the_lab_leaves_the_machine_comparable() -> None:
    found = differences(manifest(protocol="mine", design=S80 | {"l2.size": 2 << 20}))
    assert found == {"protocol": "mine", "l2.size": "2MiB"}


def test_recorded_differences_hold_after_the_file_has_changed() -> None:
    assert differences(manifest(differences={"l2.ways": "16"})) == {"l2.ways": "16"}


def test_key_of_an_older_machine_file_is_left_out() -> None:
    assert differences(manifest(design={"clock.turn_instructions": 100})) == {}


def test_label_and_name_show_what_differs() -> None:
    assert label("imapb", MESI_2M) == "imapb · mesi · l2.size=2MiB"
    assert label("imapb", {}) == "imapb"
    assert slug(MESI_2M) == "-mesi-l2.size=2MiB"
    assert slug({}) == slug({"scale": "tiny"}) == ""


def test_long_value_is_replaced_by_a_hash_that_tells_values_apart() -> None:
    (one,), (other,) = words({"guest.kernel_args": "quiet " * 9}), words({"guest.kernel_args": "quiet " * 8})
    assert one.startswith("guest.kernel_args=#") and len(one) == len("guest.kernel_args=#") + 6
    assert one != other
    many = {f"latency.l{number}": "110" for number in range(20)}
    assert len(slug(many)) == 9 and slug(many) != slug({**many, "latency.l0": "120"})
