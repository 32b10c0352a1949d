# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the version and build options of this gem5 as one line of JSON: gem5.fast -d OUT about.py"""

import json
import sys
from pathlib import Path

from _m5 import core
from m5.defines import buildEnv

sys.path.insert(0, str(Path(__file__).resolve().parent))

from release import this_protocols, this_release

print(
    json.dumps(
        {
            "gem5": core.gem5Version,
            "release": this_release().since,
            "protocols": this_protocols(),
            "isa": [isa for isa in ("X86", "ARM", "RISCV") if buildEnv.get(f"USE_{isa}_ISA")],
            "bits_per_set": int(buildEnv.get("NUMBER_BITS_PER_SET", 0)),
        }
    )
)
