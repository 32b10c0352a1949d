# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of Snakemake on the shipped workflow, installed once, as `make workflow` does it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.lab import LIMIT_S

from s80lab.base import paths

SNAKEMAKE = paths.BUILD / "workflow" / "bin" / "snakemake"


def command(folder: Path, profile: str, designs: Mapping[str, Any], *options: str | Path) -> list[str]:
    """One seed of imapb at tiny, and a grid of designs; the marks of what is done lie in folder/done."""
    subprocess.run([paths.ROOT / "scripts" / "setup", "workflow"], check=True, timeout=LIMIT_S)
    config = {"scale": "tiny", "mixes": ["imapb"], "seeds": [1], "designs": {"imapb": designs}}
    config |= {"done": str(folder / "done"), "s80lab": f"{sys.executable} -m s80lab"}
    (folder / "config.json").write_text(json.dumps(config))
    workflow = paths.ROOT / "workflow"
    words = ["--profile", workflow / "profiles" / profile, "--snakefile", workflow / "Snakefile"]
    # The checkout may be at work itself: no lock.
    return [str(word) for word in (SNAKEMAKE, "--nolock", *words, "--configfile", folder / "config.json", *options)]
