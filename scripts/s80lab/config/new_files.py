# SPDX-License-Identifier: GPL-2.0-or-later
"""Commented files: of a new experiment, which is based on an existing one and overrides some of its keys, and of a new
machine, made from an existing machine and changed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find, find_or_file, put, short_path, size_text
from s80lab.base.suggest import names
from s80lab.base.toml_lines import toml_comment, toml_key, toml_keys, toml_value
from s80lab.config.experiment import Experiment, load_experiment
from s80lab.config.grid import Grid, is_number
from s80lab.config.machine import (
    KEYS,
    OPTIONAL,
    TABLES,
    Machine,
    allowed_values,
    default_tables,
    load_machine,
    with_inclusion,
)

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
    "sampling_interval": "instructions of a sampling interval",
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


def experiment_content(base: str, changed: Mapping[str, object], sweep: Grid) -> dict[str, Any]:
    """What the new file must contain. UserError if the values contradict each other.

    base: the experiment that it is based on. changed: values by dotted keys. sweep: the axes of its [sweep].
    """
    if "base" in changed:
        raise UserError(f"--set base={changed['base']}: the option --from names the base; omit the setting")
    changes = [f"{key}={value}" for key, value in changed.items() if key != "description"]
    content: dict[str, Any] = {
        "description": f"{base} with {', '.join(changes)}" if changes else f"{base}, to be changed",
        "base": base,
    }
    for key, value in changed.items():
        put(content, key, value, f"--set {key}", Experiment)
    if sweep.axes and not isinstance(content.setdefault("sweep", {}), dict):
        raise UserError("--set sweep: is not a table; omit the setting, because --vary names the values")
    for axis in sweep.axes:
        if axis.key in content["sweep"]:
            raise UserError(f"--vary {axis.key}: --set sweep.{axis.key} names its values too; omit one of the two")
        content["sweep"][axis.key] = _typed(axis.values)
    return content


def experiment_text(name: str, file: str, content: Mapping[str, Any]) -> str:
    """The text of the file with its comments.

    name: of the new experiment. file: its path, for the comments. content: the values that it sets.
    """
    base = str(content["base"])
    known = load_experiment(base, {})
    scale = str(content.get("scale", known.scale))
    values = {key: value for key, value in known.model_dump().items() if key in _KEYS}
    tables = [(keys, table) for keys, table in _tables(content) if keys not in ((), ("sweep",), ("phases", scale))]
    top = _plain(content)
    lines = [
        _HEAD.format(base=toml_comment(base), file=toml_comment(file), name=toml_comment(name)).rstrip(),
        *_set(top, ("description", "base")),
        *_lines(_KEYS, values, top),
        *_set(top, [key for key in top if key not in (*_KEYS, "description", "base")]),
        "",
    ]
    phases = content.get("phases")
    own = phases.get(scale) if isinstance(phases, Mapping) else None
    inside = _plain(own) if isinstance(own, Mapping) else {}
    usual = known.phases.get(scale)
    lines += [
        f"{'# ' if own is None or not isinstance(own, Mapping) else ''}[{toml_keys(('phases', scale))}]",
        *_lines(_PHASES, {} if usual is None else usual.model_dump(), inside),
        *_set(inside, [key for key in inside if key not in _PHASES]),
    ]
    for keys, table in tables:
        lines += ["", f"[{toml_keys(keys)}]", *_set(table, table)]
    lines.append(_SWEEP.rstrip())
    axes = content.get("sweep")
    if isinstance(axes, Mapping):
        lines += ["[sweep]", *_set(_plain(axes), _plain(axes))]
    else:
        lines += ["# [sweep]", '# protocol = ["moesi", "mesi"]', '# "l2.size" = ["2MiB", "8MiB"]']
    return "\n".join(lines) + "\n"


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table that are not tables."""
    return {key: value for key, value in table.items() if not isinstance(value, Mapping)}


def _tables(content: Mapping[str, Any], keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Each table that has values of its own or is empty, with the keys that lead to it."""
    if _plain(content) or not content:
        yield keys, _plain(content)
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*keys, key))


def _set(table: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [f"{toml_key(key)} = {toml_value(table[key])}" for key in keys if key in table]


def _lines(comments: Mapping[str, str], known: Mapping[str, object], table: Mapping[str, Any]) -> list[str]:
    """A line for each key with its comment: set if the table has it, else the base's value as a comment."""
    found = []
    for key, comment in comments.items():
        value = table[key] if key in table else known.get(key)
        shown = "..." if value is None else toml_value(value)
        found.append(f"{'' if key in table else '# '}{key} = {shown}  # {comment}")
    return found


def _typed(values: Sequence[str]) -> list[object]:
    """Values of --vary as values of a file: whole numbers as numbers, all others as texts."""
    whole = all(is_number(value) and value.isdigit() and str(int(value)) == value for value in values)
    return [int(value) for value in values] if whole else list(values)


_OF_PYTHON = {
    "name": "the name of this file without .toml",
    "description": "",
    "protocol": "usual coherence protocol: a name in configs/protocols (`s80lab list protocols`)",
    "guest": "the machine that the guest's kernel sees; a change needs another boot",
    "guest.cpu": "processor type of QEMU",
    "guest.kernel_args": "command line of the kernel",
    "guest.load_processors": "last processors, which run only the load generator; 0: it shares the processors",
    "provenance": "`stated: ` by a source, or `assumed: ` with the reason",
}
"""Comments of keys and tables that the model does not have."""
_MACHINE_HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine, made from `{source}`. docs/guides/extending.md explains the file. After a change, run
#     s80lab check {file}
# Sizes are bytes, or "128KiB", "8MiB". [provenance] states where each value comes from.
"""
_SIZES = tuple(key for key, declared in KEYS.items() if declared["type"] == "size")


def new_machine(name: str, source: str, overrides: Mapping[str, object]) -> Machine:
    """The new machine. UserError if it cannot have these values.

    name: of the new machine. source: the machine that it is made from. overrides: changed values by dotted keys.
    """
    if "name" in overrides:
        raise UserError(f"--set name={overrides['name']}: the machine has the name of its file; omit the setting")
    base = load_machine(source)
    protocol = _protocol(overrides.get("protocol", base.protocol))
    named = {"protocol": protocol.stem} if "protocol" in overrides else {}
    machine = load_machine(source, with_inclusion(protocol, {**overrides, **named}))
    changed = [f"{key}={value}" for key, value in overrides.items() if key != "description"]
    described = f"{source} with {', '.join(changed)}" if changed else f"{source}, to be changed"
    update = {
        "name": name,
        "description": machine.description if "description" in overrides else described,
        "provenance": _provenance(name, base, machine),
    }
    return machine.model_copy(update=update)


def machine_text(machine: Machine, file: str, source: str) -> str:
    """The content of the machine's file. file: its path; source: the machine that it is made from; both for the
    comments."""
    head = _MACHINE_HEAD.format(source=toml_comment(source), file=toml_comment(file))
    provenance = [f"{toml_key(key)} = {toml_value(text)}" for key, text in machine.provenance.items()]
    return head + "\n".join([*machine_lines(machine), "", _commented("[provenance]", "provenance"), *provenance]) + "\n"


def machine_lines(machine: Machine) -> Iterator[str]:
    """All values of a machine, a line each with a comment. Tables that the machine does not use are comments, and so
    are keys without a value."""
    values = {**default_tables(), **_values(machine), "name": machine.name, "description": machine.description}
    table = ""
    for key in dict.fromkeys(("name", "description", "protocol", *KEYS, *values)):
        unused = (now := key.rpartition(".")[0]) in OPTIONAL and not machine.uses(now)
        if now != table:
            table = now
            yield ""
            yield ("# " if unused else "") + _commented(f"[{table}]", table)
        known = values.get(key, KEYS.get(key, {}).get("default"))
        value = "..." if known is None else _value_text(key, known)
        yield ("# " if unused or key not in values else "") + _commented(f"{key.rpartition('.')[2]} = {value}", key)


def _commented(line: str, key: str) -> str:
    """A line with the meaning of its key or table."""
    if key in KEYS:
        declared = KEYS[key]
        unit = f"{declared['unit']}, " if declared["unit"] and declared["type"] != "size" else ""
        comment = f"{declared['text']} ({unit}{allowed_values(key)})"
    else:
        comment = TABLES[key]["text"] if key in TABLES else _OF_PYTHON[key]
    return f"{line:<23} # {comment}" if comment else line


def _protocol(name: object) -> Path:
    """The file of the protocol. UserError for a file outside of the folders of protocols: a machine file contains the
    name of a protocol, which would be another protocol there."""
    path = find_or_file("protocol", paths.PROTOCOLS, str(name))
    named = find("protocol", paths.PROTOCOLS, path.stem) if path.stem in names(paths.PROTOCOLS) else None
    if named is None or named.resolve() != path.resolve():
        folder = short_path(paths.own(paths.PROTOCOLS))
        raise UserError(
            f"--set protocol={name}: a machine file contains the name of a protocol, not a path; copy the file to "
            f"{folder} under a name of its own, then write this name without .toml"
        )
    return named


def _values(machine: Machine) -> dict[str, Any]:
    """All values by dotted keys."""
    guest = {f"guest.{key}": value for key, value in machine.guest.model_dump().items()}
    return {**machine.design(), **guest, "protocol": machine.protocol}


def _value_text(key: str, value: object) -> str:
    return toml_value(size_text(int(str(value))) if key in _SIZES else value)


def _provenance(name: str, base: Machine, machine: Machine) -> dict[str, str]:
    """The origin of each value: that of the base, that which the user has set, or that the value was chosen for this
    machine."""
    before, after = _values(base), _values(machine)
    own = {key for key, text in machine.provenance.items() if base.provenance.get(key) != text}
    changed = [key for key in after if key != "protocol" and before.get(key) != after[key] and key not in own]
    kept = {key: text for key, text in machine.provenance.items() if key not in changed}
    return kept | dict.fromkeys(changed, f"assumed: chosen for {name}")
