# SPDX-License-Identifier: GPL-2.0-or-later
"""All problems of a configuration file: a machine, experiment, program, protocol, workload (load profile), scale or
server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from s80lab.analysis.sweep import check_shown
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Fault, faults, find, find_or_file, read_toml, short_path, size_text
from s80lab.base.suggest import hint, names
from s80lab.base.terminal import counted
from s80lab.base.toml_lines import Keys, key_lines, line_of
from s80lab.config.experiment import Experiment, Scale, check_ram, content_over_bases, scale_file
from s80lab.config.grid import Grid
from s80lab.config.machine import Machine
from s80lab.config.program import Saved
from s80lab.config.server import ServerFile
from s80lab.config.workload import PROTOCOLS
from s80lab.experiment.plan import check_points
from s80lab.protocol.proof import proven
from s80lab.protocol.table import Protocol


@dataclass(frozen=True)
class Problem:
    """A problem of a file. line: counted from 1; None if the problem belongs to no line."""

    line: int | None
    text: str


@dataclass(frozen=True)
class Checked:
    """What is known of a file. kind: empty if it was not recognised. summary: of a file without problems."""

    path: Path
    kind: str
    summary: str
    problems: tuple[Problem, ...]

    def sentences(self) -> list[str]:
        """A sentence for each problem, or that the file is right."""
        name = short_path(self.path)
        if not self.problems:
            return [f"{name}: right ({self.kind} {self.summary})"]
        return [
            f"{name}, line {problem.line}: {problem.text}" if problem.line else f"{name}: {problem.text}"
            for problem in self.problems
        ]


@dataclass(frozen=True)
class Kind:
    """A kind of file. folder: of the shipped files. marks: keys at the top of such a file, by which it is recognised.
    faults: the problems of its content. summary: of the content of a right file."""

    folder: Path
    marks: frozenset[str]
    faults: Callable[[Path, Mapping[str, Any]], list[Fault]]
    summary: Callable[[Path, Mapping[str, Any]], str]


def check_file(path: Path) -> Checked:
    """All problems of a file. Its place decides what it is if it lies in a folder of the laboratory, else its keys."""
    if not path.is_file():
        return Checked(path, "", "", (Problem(None, _missing_file(path)),))
    try:
        content = read_toml(path)
        text = path.read_text(encoding="utf-8")
    except UserError as error:
        message = str(error).removeprefix(f"{short_path(path)}: ")
        at = re.search(r" \(at line (\d+), column \d+\)", message)
        return Checked(path, "", "", (Problem(int(at[1]) if at else None, message),))
    return check_text(path, text, content)


def check_text(path: Path, text: str, content: Mapping[str, Any], kind_of_file: str = "") -> Checked:
    """All problems of a text that is, or will be, the content of the file. content: the parsed text. kind_of_file: one
    of KINDS; empty if the place of the file or its keys decide."""
    name = kind_of_file or _kind(path, content)
    if not name:
        kinds = ", ".join(KINDS)
        message = (
            f"the keys are of no known kind of file ({kinds}); correct the keys, or put the file into a folder such as "
            f"{short_path(paths.MACHINES)}"
        )
        return Checked(path, "", "", (Problem(None, message),))
    kind = KINDS[name]
    lines = key_lines(text)
    problems = tuple(Problem(_line(lines, fault), fault.text) for fault in kind.faults(path, content))
    summary = "" if problems else kind.summary(path, content)
    return Checked(path, name, summary, tuple(sorted(problems, key=lambda problem: problem.line or 0)))


def _missing_file(path: Path) -> str:
    stem = path.stem if path.suffix == ".toml" else path.name
    for kind in KINDS.values():
        if stem in names(kind.folder):
            return f"the file does not exist; did you mean {short_path(find('file', kind.folder, stem))}?"
    return "the file does not exist; name a .toml file"


def _kind(path: Path, content: Mapping[str, Any]) -> str:
    if "program" in content:  # lies beside other experiments
        return "program"
    folder = path.absolute().parent
    for name, kind in KINDS.items():
        if folder in paths.places(kind.folder):
            return name
    hits = {name: len(kind.marks & content.keys()) for name, kind in KINDS.items()}
    best = max(hits, key=lambda name: hits[name])
    if hits[best]:
        return best
    # A variant of an experiment or a server may set keys that no other kind has.
    kinds = [name for name in ("experiment", "server") if content.get("base") in names(KINDS[name].folder)]
    return kinds[0] if kinds else ""


def _line(lines: Mapping[Keys, int], fault: Fault) -> int | None:
    """The line of the fault's key; of a fault of several keys, the line of the first key in its text."""
    named = (tuple(word.split(".")) for word in re.findall(r"[A-Za-z_]\w*(?:\.\w+)*", fault.text))
    inner = next((keys for keys in named if keys in lines), ())
    longer = inner if inner[: len(fault.keys)] == fault.keys else fault.keys
    return line_of(lines, longer)


def _named(keys: Keys, kind: str, folder: Path, name: str, *, may_be_file: bool = False) -> list[Fault]:
    """The problem that a file of this name does not exist."""
    look = find_or_file if may_be_file else find
    return _refusal(keys, lambda: look(kind, folder, name), f"key `{'.'.join(keys)}`: ")


def _refusal(keys: Keys, check: Callable[[], object], where: str = "") -> list[Fault]:
    """The problem with this key if the check raises UserError. where: the beginning of its sentence."""
    try:
        check()
    except UserError as error:
        return [Fault(keys, where + str(error).removeprefix("file: "))]
    return []


_FILE = {"may_be_file": True}


def _machine(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    found = faults(content, Machine)
    if found:
        return found
    if content["name"] != path.stem:
        found.append(
            Fault(("name",), f'key `name`: `{content["name"]}` is not the name of the file; write name = "{path.stem}"')
        )
    return found + _named(("protocol",), "protocol", paths.PROTOCOLS, content["protocol"])


def _machine_summary(path: Path, content: Mapping[str, Any]) -> str:
    machine = Machine.model_validate(content)
    processors = machine.processors
    return (
        f"{machine.name}: {counted(processors.count, 'processor')} at {processors.clock_hz / 1e6:g} MHz, "
        f"L2 of {size_text(machine.l2.size)} in {counted(machine.l2.ways, 'way')}, {machine.line_bytes}-byte lines, "
        f"protocol {machine.protocol}"
    )


def _protocol(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    return faults(content, Protocol)


def _protocol_summary(path: Path, content: Mapping[str, Any]) -> str:
    protocol = Protocol.model_validate(content)
    proof = proven(protocol)
    state = (
        f"proven for {proof.caches} caches" if proof else f"not proven yet; `s80lab protocol check {short_path(path)}`"
    )
    return f"{protocol.name}: states {', '.join(protocol.states)}; {state}"


def _experiment(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    try:
        whole = content_over_bases(path, content)
    except UserError as error:
        return [Fault(("base",), f"key `base`: {error}")]
    found = faults(whole, Experiment)
    if found:
        return found
    experiment = Experiment.model_validate(whole)
    # A key that the sweep varies may name anything in the file.
    files = (
        ("machine", paths.MACHINES, True),
        ("protocol", paths.PROTOCOLS, True),
        ("server", paths.SERVERS, False),
        ("workload", paths.PROFILES, False),
    )
    for key, folder, may_be_file in files:
        name = getattr(experiment, key)
        if name is not None and key not in experiment.sweep:
            found += _named((key,), key, folder, name, may_be_file=may_be_file)
    if "scale" not in experiment.sweep:
        found += _refusal(("scale",), partial(scale_file, experiment.scale), "key `scale`: ")
    for scale in experiment.phases:
        found += _refusal(("phases", scale), partial(scale_file, scale), f"[phases.{scale}]: ")
    if experiment.gem5 is not None:
        found += _refusal(("gem5", "scale"), partial(scale_file, experiment.gem5.scale), "key `gem5.scale`: ")
        for machine in experiment.gem5.phases:
            found += _named(("gem5", "phases", machine), "machine", paths.MACHINES, machine, may_be_file=True)
    if experiment.scale not in experiment.phases:
        text = f"the file has no table [phases.{experiment.scale}]: {hint(experiment.scale, experiment.phases)}"
        found.append(Fault(("scale",), f"key `scale`: {text}"))
    if found:
        return found
    found += _refusal(("show",), lambda: check_shown(experiment, "file"))
    found += _refusal(("sweep",), lambda: check_points(experiment))
    return found


def _experiment_summary(path: Path, content: Mapping[str, Any]) -> str:
    experiment = Experiment.model_validate(content_over_bases(path, content))
    points = Grid.of_sweep(experiment.sweep).size
    sweep = f", {counted(points, 'point')} of a sweep over {', '.join(experiment.sweep)}" if experiment.sweep else ""
    runs = counted(points * len(experiment.seeds) * len(experiment.boots), "run")
    boots = f" from each of {len(experiment.boots)} boots" if len(experiment.boots) > 1 else ""
    return (
        f"{path.stem}: workload {experiment.workload} on {experiment.machine} at scale {experiment.scale}, "
        f"{counted(len(experiment.seeds), 'seed')}{boots}{sweep}: {runs}; `s80lab estimate {path.stem}` states the cost"
    )


def _program(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    if found := faults(content, Saved):
        return found
    saved = Saved.model_validate(content)
    found = [] if "machine" in saved.sweep else _named(("machine",), "machine", paths.MACHINES, saved.machine, **_FILE)
    if saved.protocol is not None and "protocol" not in saved.sweep:
        found += _named(("protocol",), "protocol", paths.PROTOCOLS, saved.protocol, **_FILE)
    return found


def _program_summary(path: Path, content: Mapping[str, Any]) -> str:
    saved = Saved.model_validate(content)
    runs = Grid.of_sweep(saved.sweep).size * len(saved.seeds) * len(saved.boots)
    return f"{path.stem}: {saved.description} on {saved.machine}, {counted(runs, 'run')}"


def _workload(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    protocol = str(content.get("protocol", "imap"))
    if protocol not in PROTOCOLS:
        return [Fault(("protocol",), f"key `protocol`: `{protocol}` is unknown: {hint(protocol, PROTOCOLS)}")]
    return faults(content, PROTOCOLS[protocol])


def _workload_summary(path: Path, content: Mapping[str, Any]) -> str:
    workload = PROTOCOLS[str(content.get("protocol", "imap"))].model_validate(content)
    speaks = " and ".join(workload.speaks)
    return f"{workload.mix}: {speaks}, {counted(len(workload.transactions), 'transaction type')}"


def _scale(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    found = faults(content, Scale)
    return found or _refusal(("ram",), lambda: check_ram(Scale.model_validate(content), "file"))


def _scale_summary(path: Path, content: Mapping[str, Any]) -> str:
    scale = Scale.model_validate(content)
    return f"{path.stem}: {counted(scale.users, 'user')}, {scale.store_bytes() / 1e9:.1f} GB of mail"


def _server(path: Path, content: Mapping[str, Any]) -> list[Fault]:
    found = faults(content, ServerFile)
    base = content.get("base")
    return found if found or base is None else _named(("base",), "server", paths.SERVERS, base)


def _server_summary(path: Path, content: Mapping[str, Any]) -> str:
    return f"{path.stem}: {content['description']}"


KINDS: Mapping[str, Kind] = {
    "machine": Kind(
        paths.MACHINES,
        frozenset({"processors", "l1i", "l1d", "l2", "latency", "clock", "line_bytes", "guest"}),
        _machine,
        _machine_summary,
    ),
    "protocol": Kind(paths.PROTOCOLS, frozenset({"states", "own", "remote"}), _protocol, _protocol_summary),
    "experiment": Kind(
        paths.EXPERIMENTS,
        frozenset({"phases", "seeds", "sweep", "workload", "machine", "scale", "show"}),
        _experiment,
        _experiment_summary,
    ),
    "program": Kind(paths.EXPERIMENTS, frozenset({"program"}), _program, _program_summary),
    "workload": Kind(
        paths.PROFILES,
        frozenset({"mix", "mix_percent", "transitions", "driver", "metric", "think_ms", "scripts"}),
        _workload,
        _workload_summary,
    ),
    "scale": Kind(
        paths.SCALES, frozenset({"users", "mailboxes", "mailbox_kib", "store_seed", "ram"}), _scale, _scale_summary
    ),
    "server": Kind(
        paths.SERVERS,
        frozenset({"packages", "keep", "programs", "serves", "accounts", "store"}),
        _server,
        _server_summary,
    ),
}
