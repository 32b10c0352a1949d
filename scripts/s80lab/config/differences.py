# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs between a run and its experiment's file, or between two runs: the one source for labels, names of runs
and reports, lists, the database, pages and comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.strict import find_or_file, size_text
from s80lab.config.machine import default_tables, load_machine, with_inclusion

NAMES = ("scale", "machine", "protocol", "workload", "server", "image")
"""Keys whose values are names of files. Labels show these values without their keys."""
GUEST = "guest."
"""Beginning of the keys of the guest."""
SEPARATOR = " · "
FROM_FILE = "as in its file"
LONGEST = 24
"""Characters of a value that a label or name shows in full."""
# A design records such keys only if they were changed.
_RECORDED = ("scale.", "workload.", "ruby.")
_MOST_SLUG = 60


def differences(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The values that differ from the experiment's file, in the notation of --set, by key: the NAMES, the number of
    clients, the think time, and every key of the machine. The seed is left out. Values of the experiment's [sweep]
    count.

    A run records its differences when it is made; for a run without this record, they
    are found with the files of the present. manifest: of the run, or the entries of a plan for it."""
    recorded = manifest.get("differences")
    if isinstance(recorded, Mapping):
        return {str(key): str(value) for key, value in recorded.items()}
    return find_differences(manifest)


def find_differences(manifest: Mapping[str, Any], guest: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The differences from the experiment's file as it is now. If an experiment or a machine has no file any more, its
    keys are left out. A machine without a file is compared with the experiment's machine. guest: the table [guest] of
    the run's machine, which a design does not have; None if it is not known."""
    experiment, engine, machine, protocol, scale = (
        str(manifest[key]) for key in ("experiment", "engine", "machine", "protocol", "scale")
    )
    usual = dict(_usual_names(experiment, engine))
    if not _usual_design(machine, "", "", "", engine):
        machine = str(usual.get("machine", machine))
    if usual and usual["protocol"] is None:
        usual["protocol"] = _usual_design(machine, "", "", "", engine).get("protocol")
    own = _usual_design(machine, protocol, scale, experiment, engine)
    if engine == "gem5":  # which has one protocol
        usual["protocol"] = protocol
    found = {key: str(manifest[key]) for key in NAMES if usual.get(key) not in (None, manifest.get(key))}
    for key, value in sorted(manifest.get("design", {}).items()):
        if key != "protocol" and (key in own or key.startswith(_RECORDED)) and own.get(key) != value:
            found[key] = value_text(key, value)
    if guest is not None and own:
        found |= guest_differences(machine, guest)
    swept: Mapping[str, Any] = manifest.get("varied", {})
    return found | {key: str(value) for key, value in swept.items() if key not in (*found, *own, *NAMES)}


def guest_differences(machine: str, guest: Mapping[str, Any]) -> dict[str, str]:
    """What differs from the table [guest] in the file of the machine, which a design does not have."""
    usual = load_machine(machine).guest.model_dump()
    return {f"{GUEST}{key}": str(value) for key, value in guest.items() if usual.get(key) != value}


@dataclass(frozen=True)
class Changed:
    """A value in which two runs differ, in the notation of --set. None: the run has the value of its experiment's
    file, and no record of this value."""

    key: str
    first: str | None
    second: str | None

    def __str__(self) -> str:
        """For example `l2.size 8MiB -> 2MiB`."""
        return f"{self.key} {self.first or FROM_FILE} -> {self.second or FROM_FILE}"


def changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Changed]:
    """What the second run has other than the first, seeds and boots left out. first, second: their manifests."""
    before, after = ({key: str(run[key]) for key in ("experiment", "engine")} | values(run) for run in (first, second))
    keys = dict.fromkeys((*before, *after))
    return [Changed(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]


def values(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Everything that can differ: names of files, the design, and differences that are in neither (of the guest)."""
    names = {key: str(manifest[key]) for key in NAMES}
    design = {key: value_text(key, value) for key, value in manifest.get("design", {}).items() if key != "protocol"}
    return {**names, **design, **{key: value for key, value in differences(manifest).items() if key not in NAMES}}


def value_text(key: str, value: object) -> str:
    """A value of a design in the notation of the machine file: 1048576 bytes of `l2.size` become 1MiB."""
    return size_text(int(str(value))) if key.endswith(".size") and str(value).isdigit() else str(value)


def words(found: Mapping[str, str]) -> list[str]:
    """The differences as words of a label: `mesi`, `l2.size=2MiB`. A long value is replaced by its hash."""
    short = {key: value if len(value) <= LONGEST else f"#{value_hash(value)[:6]}" for key, value in found.items()}
    return [value if key in NAMES else f"{key}={value}" for key, value in short.items()]


def label(first: str, found: Mapping[str, str]) -> str:
    """A label such as `imapb · mesi · l2.size=2MiB`. first: the workload or experiment."""
    return SEPARATOR.join([first, *(word for word in words(found) if word != first)])


def design_text(manifest: Mapping[str, Any]) -> str:
    """The design of a run: machine, protocol, changed values, and a hash of all values and of the protocol table, for
    example `s80 · mesi · l2.size=2MiB #1f09c2`. Names of files other than machine and protocol are not part of it."""
    changed = {key: value for key, value in differences(manifest).items() if key not in NAMES}
    of_all = value_hash([manifest.get("design"), changed, manifest["inputs"].get("protocol")])[:6]
    return f"{SEPARATOR.join([manifest['machine'], manifest['protocol'], *words(changed)])} #{of_all}"


def slug(found: Mapping[str, str], without: Sequence[str] = ("scale",)) -> str:
    """The differences as a part of a name: `-mesi-l2.size=2MiB`; empty without differences. Long texts are replaced by
    a hash. without: keys that are left out, because the rest of the name has them."""
    text = "".join(f"-{word}" for word in words({key: value for key, value in found.items() if key not in without}))
    text = "".join(letter if letter.isalnum() or letter in "-_.=+," else "_" for letter in text)
    return text if len(text) <= _MOST_SLUG else f"-{value_hash(dict(found))[:8]}"


@cache
def _usual_names(experiment: str, engine: str) -> Mapping[str, Any]:
    """The names in the experiment's file; empty if the experiment has none."""
    # Only here: most commands need no experiment.
    from s80lab.config.experiment import load_experiment

    try:
        loaded = load_experiment(experiment, {})
    except UserError:
        return {}
    names: dict[str, Any] = {key: getattr(loaded, key) for key in NAMES}
    if engine == "gem5" and loaded.gem5 is not None:
        names["scale"] = loaded.gem5.scale
    return names


@cache
def _usual_design(machine: str, protocol: str, scale: str, experiment: str, engine: str) -> Mapping[str, Any]:
    """The design in the files of the machine and the scale, with the inclusion that the protocol requires; empty if the
    machine has no file any more. protocol, scale, experiment: empty to leave out their part."""
    from s80lab.config.experiment import load_experiment, load_scale

    try:
        inclusion = {"l2.inclusion": "exclusive"} if engine == "gem5" else _required_inclusion(protocol)
        found = default_tables() | load_machine(machine, inclusion).design()
    except UserError:
        return {}
    try:
        found |= load_scale(scale).design() if scale else {}
        part = load_experiment(experiment, {}).gem5 if engine == "gem5" else None
        found |= {} if part is None else {f"ruby.{key}": value for key, value in part.ruby.model_dump().items()}
    except UserError:  # a replay of an imported trace has neither
        pass
    return found


def _required_inclusion(protocol: str) -> Mapping[str, object]:
    """The L2 inclusion that the protocol requires; empty if it requires none, or if its table is not in the lab."""
    try:
        return with_inclusion(find_or_file("protocol", paths.PROTOCOLS, protocol)) if protocol else {}
    except UserError:
        return {}
