# SPDX-License-Identifier: GPL-2.0-or-later
"""The commented file of a new experiment, which is based on an existing one and overrides some of its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from s80lab.base.toml_lines import toml_key, toml_value
from s80lab.config.experiment import Experiment, load_experiment
from s80lab.config.grid import Grid, is_number

_KEYS = {
    "machine": "a name in configs/machines",
    "protocol": "coherence protocol; default: the machine's",
    "image": "guest image: debian, or a Buildroot image",
    "server": "a name in workloads/servers",
    "workload": "profile: a name in workloads/profiles",
    "scale": "a name in workloads/scales; there must be a table [phases.SCALE]",
    "seeds": "each seed is one run from each boot",
    "boots": "numbers of boots; several boots are independent replications",
    "clients": "number of clients; default: one per user of the scale",
}
_PHASES = {
    "warmup_min": "instructions of all processors together, at least nine sampling intervals",
    "warmup_max": "the warm-up ends here even without steady state",
    "drift_points": "largest drift of the shares in steady state, in points",
    "window": "instructions of a sampling interval",
    "measure": "least instructions of the measured region",
    "measure_cycles": "least closed-loop cycles of the measured region; a valid run needs 3",
    "clients": "number of clients at this scale",
    "think_ms": "mean think time in milliseconds; default: the workload's",
    "think": "distribution of think times: exponential or constant",
}
_HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# An experiment, based on `{base}`: each key that this file does not set has the value of {base}. Lines with a # show
# the values of {base}; remove the # to set a key here. After a change, run
#     s80lab check {file}
#     s80lab estimate {name}
#     s80lab run {name}
"""
_SWEEP = """\

# A table [sweep] measures every combination of its values with every seed. It replaces the [sweep] of the base.
"""


def experiment_text(name: str, file: str, base: str, changed: Mapping[str, object], sweep: Grid) -> str:
    """The content of the file.

    name: of the new experiment. file: its path, for the comments. base: the experiment that it is based on. changed:
    values by dotted keys. sweep: the axes of its [sweep].
    """
    content = load_experiment(base, {})
    scale = str(changed.get("scale", content.scale))
    said = [f"{key}={value}" for key, value in changed.items() if key != "description"]
    described = changed.get("description") or (f"{base} with {', '.join(said)}" if said else f"{base}, to be changed")
    lines = [
        _HEAD.format(base=base, file=file, name=name).rstrip(),
        f"description = {toml_value(described)}",
        f"base = {toml_value(base)}",
        *_lines("", _KEYS, _known(content), changed),
        "",
    ]
    table = f"phases.{scale}."
    phases = content.phases.get(scale)
    inside = _lines(table, _PHASES, {} if phases is None else phases.model_dump(), changed)
    is_set = any(not line.startswith("#") for line in inside)
    lines += [f"{'' if is_set else '# '}[phases.{toml_key(scale)}]", *inside]
    lines += _others(changed, table)
    lines.append(_SWEEP.rstrip())
    axes = {axis.key: axis.values for axis in sweep.axes}
    if axes:
        lines += ["[sweep]", *(f"{toml_key(key)} = {toml_value(_typed(values))}" for key, values in axes.items())]
    else:
        lines += ["# [sweep]", '# protocol = ["moesi", "mesi"]', '# "l2.size" = ["2MiB", "8MiB"]']
    return "\n".join(lines) + "\n"


def _known(experiment: Experiment) -> dict[str, object]:
    return {key: value for key, value in experiment.model_dump().items() if key in _KEYS}


def _lines(
    prefix: str, comments: Mapping[str, str], known: Mapping[str, object], changed: Mapping[str, object]
) -> list[str]:
    """A line for each key with its comment: set if it is changed, else the base's value as a comment."""
    found = []
    for key, comment in comments.items():
        is_changed = f"{prefix}{key}" in changed
        value = changed[f"{prefix}{key}"] if is_changed else known.get(key)
        shown = "..." if value is None else toml_value(value)
        found.append(f"{'' if is_changed else '# '}{key} = {shown}  # {comment}")
    return found


def _others(changed: Mapping[str, object], phases: str) -> list[str]:
    """The changed keys that have no line yet, table by table."""
    tables: dict[str, list[str]] = {}
    for dotted, value in changed.items():
        table, _, key = dotted.rpartition(".")
        known = not table and key in (*_KEYS, "description", "base")
        if not known and not (f"{table}." == phases and key in _PHASES):
            tables.setdefault(table, []).append(f"{toml_key(key)} = {toml_value(value)}")
    return [line for table, lines in tables.items() for line in ("", f"[{table}]", *lines)]


def _typed(values: Sequence[str]) -> list[object]:
    """Values of --vary as values of a file: whole numbers as numbers, all others as texts."""
    whole = all(is_number(value) and value.isdigit() for value in values)
    return [int(value) for value in values] if whole else list(values)
