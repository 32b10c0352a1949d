# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of machine and protocol that do not fit are refused before a guest boots, as the model refuses them."""

from __future__ import annotations

import pytest

from s80lab.base.errors import UserError
from s80lab.config.machine import load_machine
from s80lab.experiment.plan import Options, designs
from s80lab.protocol.fit import check_fit
from s80lab.protocol.table import find_protocol
from s80lab.trace import tool
from s80lab.trace.order import Op, make
from s80lab.trace.setup import Setup

LLC = {"llc.size": "4KiB", "llc.ways": 2, "latency.llc": 20}
DIRECTORY = {"directory.entries": 8, "directory.ways": 2}


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        ("moesi", LLC),
        ("moesi", DIRECTORY),
        ("hammer", LLC),
        ("mesi-llc", {}),
        ("mesi-llc", DIRECTORY),
        ("mesi-llc", LLC | DIRECTORY),
    ],
)
def test_pair_that_does_not_fit_is_refused_as_by_the_model(protocol: str, settings: dict[str, object]) -> None:
    machine, table = load_machine("classroom", {"protocol": protocol, **settings}), find_protocol(protocol)
    with pytest.raises(UserError) as refused:
        check_fit(machine, table)
    with pytest.raises(UserError) as of_model:
        list(tool.steps(make(0, [Op.LOAD], [0]), Setup(machine, table)))
    assert str(refused.value) == str(of_model.value)


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [("moesi", {}), ("hammer", {}), ("hammer", DIRECTORY), ("mesi-llc", LLC), ("mesif-snoop-filter", LLC | DIRECTORY)],
)
def test_pair_that_fits_is_played(protocol: str, settings: dict[str, object]) -> None:
    machine, table = load_machine("classroom", {"protocol": protocol, **settings}), find_protocol(protocol)
    check_fit(machine, table)
    assert len(list(tool.steps(make(0, [Op.LOAD], [0]), Setup(machine, table)))) == 1


def test_run_on_a_machine_that_does_not_fit_is_refused_before_a_guest_boots() -> None:
    with pytest.raises(UserError, match=r"machine server-16 with protocol moesi: the protocol has no \[home\]"):
        designs("quick", Options(machine="server-16", protocol="moesi"))
    assert designs("quick", Options(machine="server-16", protocol="mesif-snoop-filter"))
