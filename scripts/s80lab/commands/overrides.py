# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run has other than the files that it names: the command that repeats the run, and its overridden values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.strict import size_text
from s80lab.config.machine import load_machine


def overrides(machine: str, design: Mapping[str, Any]) -> list[str]:
    """The values of a design that differ from the machine's file, as --set takes them: `l2.size=1MiB`.

    Empty if the file no longer exists or cannot be read. The protocol, which has an option of its own, is left out.

    design: the values by dotted keys, sizes in bytes.
    """
    usual = _values(machine)
    return [
        f"{key}={_value(key, value)}"
        for key, value in sorted(design.items())
        if usual and key != "protocol" and usual.get(key) != value
    ]


def run_command(manifest: Mapping[str, Any]) -> str:
    """The command that makes a run of the same experiment and design, for example `s80lab run imapb --seeds 1`.

    UserError if the experiment no longer exists.

    manifest: of the run.
    """
    # Only here: `s80lab list` needs no experiment.
    from s80lab.config.experiment import load_experiment

    experiment = load_experiment(manifest["experiment"], {})
    machine = manifest["machine"]
    protocol = experiment.protocol or _values(machine).get("protocol")
    usual: dict[str, str | None] = {"scale": experiment.scale, "server": experiment.server, "image": experiment.image}
    usual |= {"machine": experiment.machine, "protocol": protocol}
    options = [f"--{key} {manifest[key]}" for key, value in usual.items() if manifest.get(key, value) != value]
    options += [f"--set {pair}" for pair in overrides(machine, manifest.get("design", {}))]
    options += [f"--boots {manifest['boot']}"] if manifest.get("boot", 1) != 1 else []
    return " ".join(["s80lab run", manifest["experiment"], *options, f"--seeds {manifest['seed']}"])


@cache
def _values(machine: str) -> dict[str, Any]:
    try:
        return load_machine(machine).design()
    except UserError:
        return {}


def _value(key: str, value: Any) -> str:
    """The value as --set takes it. Sizes are in bytes in a design."""
    return size_text(value) if key.endswith(".size") and isinstance(value, int) else str(value)
