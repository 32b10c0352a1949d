# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a machine can play a protocol: what lies behind the private caches must suit the table's [home].

The model refuses the same pairs with the same sentences (src/memory/home/directory.cpp), but only after the guest has
booted.
"""

from __future__ import annotations

from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.config.machine import Machine
from s80lab.protocol.table import load_protocol


def check_fit(machine: Machine, table: Path) -> None:
    """UserError if machine and protocol do not fit."""
    protocol = load_protocol(table)
    home, has_llc = protocol.home, protocol.home is not None and protocol.home.has_llc
    if not machine.llc and not machine.directory and not has_llc:
        return
    both = f"machine {machine.name} with protocol {protocol.name}: "
    change = "; choose another protocol, or "
    if home is None:
        raise UserError(
            f"{both}the protocol has no [home], which [llc] and [directory] of a machine need{change}remove the tables "
            "from the machine"
        )
    if machine.llc and not has_llc:
        raise UserError(
            f"{both}no home state of the protocol has data, so it cannot use the machine's [llc]{change}remove [llc]"
        )
    if has_llc and not machine.llc:
        raise UserError(f"{both}the protocol needs a last-level cache{change}add [llc] to the machine")
    if machine.directory and not home.recall:
        raise UserError(
            f"{both}the protocol has no row [home.recall], so its directory cannot have a bounded number of entries"
            f"{change}remove [directory]"
        )
