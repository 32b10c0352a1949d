# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes OUT/facts.json, the facts about a simulation. It is written last: a simulation with this file is complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import m5
from _m5 import core as build
from m5.defines import buildEnv
from machine_file import MachineFile
from release import this_release


def write_facts(machine: MachineFile, **more: Any) -> None:
    """more: facts that only this kind of simulation has."""
    facts = {
        "gem5": build.gem5Version,
        "protocol": machine.ruby,
        "release": this_release().since,
        "rows": dict(this_release().rows),
        "bits_per_set": int(buildEnv["NUMBER_BITS_PER_SET"]),
        "machine": machine.name,
        "processors": machine.processors,
        "ticks": m5.curTick(),
        **more,
        "notes": machine.notes(),
    }
    partial = Path(m5.options.outdir) / "facts.json.partial"
    partial.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    partial.rename(partial.with_suffix(""))
