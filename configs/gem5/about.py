# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the version and build options of this gem5 as one line of JSON: gem5.fast -d OUT about.py"""

import json

from _m5 import core
from m5.defines import buildEnv

print(
    json.dumps(
        {
            "gem5": core.gem5Version,
            "protocol": buildEnv.get("PROTOCOL", "none"),
            "isa": [isa for isa in ("X86", "ARM", "RISCV") if buildEnv.get(f"USE_{isa}_ISA")],
            "bits_per_set": int(buildEnv.get("NUMBER_BITS_PER_SET", 0)),
        }
    )
)
