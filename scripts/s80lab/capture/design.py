# SPDX-License-Identifier: GPL-2.0-or-later
"""Designs for replays: a resolved machine and protocol. A design that a capture does not support raises UserError."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import check_name
from s80lab.base.hashing import text_hash
from s80lab.base.records import known_hash
from s80lab.base.strict import find_or_file, parse_toml, read_toml, resolve, short_path
from s80lab.capture.store import Capture
from s80lab.config.differences import value_text
from s80lab.config.machine import Machine, load_machine, with_inclusion
from s80lab.protocol.fit import check_fit
from s80lab.protocol.proof import ensure_proven
from s80lab.trace.setup import Header, Named, Setup, capture_header, decide

# What a capture has been recorded for. A filtered one has had what these L1s absorb taken out of it.
_RECORDED = ("line_bytes", "processors.count", "clock.filter_instructions")
_FILTERED = ("l1i.size", "l1i.ways", "l1d.size", "l1d.ways", "processors.threads_per_core")


@dataclass(frozen=True)
class Design:
    """A machine and a protocol for a replay.

    varied: differences from the capture's own design, by dotted key. base: the name or file of a machine that an option
    names. default_protocol: whether the protocol is that of this machine, because nothing names one.
    """

    machine: Machine
    protocol: Path
    varied: Mapping[str, str]
    base: str = ""
    default_protocol: bool = False

    def sentence(self) -> str:
        """Machine, settings and protocol in one line."""
        defaults = frozenset({"protocol"} if self.default_protocol else ())
        return Setup(self.machine, self.protocol, self.base, defaults).sentence()

    @property
    def values(self) -> dict[str, Any]:
        """Every value by its dotted key, sizes in bytes."""
        return self.machine.design()

    @property
    def protocol_name(self) -> str:
        return self.machine.protocol

    @property
    def same_caches(self) -> bool:
        """Whether a replay can restore the capture's cache contents: only latencies and the clock may differ."""
        return all(key.startswith(("latency.", "clock.", "processors.clock_hz")) for key in self.varied)

    @property
    def label(self) -> str:
        """Protocol and differences, for example `hammer, l2.size=1MiB`. The protocol is always first."""
        others = [f"{key}={value}" for key, value in self.varied.items() if key != "protocol"]
        return ", ".join([self.protocol_name, *others])

    def inputs(self, capture: Capture, binary: Path) -> dict[str, str]:
        """Hashes of all inputs that determine the replay's numbers and its steady-state verdict."""
        warm_up = self.warm_up(capture)
        return {
            "capture": capture.sha256,
            "machine": text_hash(self.machine.resolved()),
            "protocol": known_hash(self.protocol),
            "replay": known_hash(binary),
            **({} if warm_up is None else {"warm_up": warm_up[1]}),
        }

    def warm_up(self, capture: Capture) -> tuple[Path, str] | None:
        """Snapshots of the warm-up before the capture, with their hash, if the replay restores the capture's caches.

        None if the replay begins with cold caches; the report then judges the replay's own warm-up.
        """
        return capture.warm_up if self.same_caches else None


def resolve_design(
    capture: Capture,
    machine: str | None = None,
    protocol: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Design:
    """The design for a replay: the capture's own machine or the named one, with protocol and settings applied.

    Raises UserError if a value is wrong or if the capture cannot be replayed on this design.
    """
    return Resolver(capture).design(machine, protocol, settings)


@dataclass(frozen=True)
class _Table:
    """A protocol's table: its file, its name, and the settings that it requires."""

    path: Path
    name: str
    required: Mapping[str, object]


class Resolver:
    """Resolves designs for one capture. What the designs have in common is read and checked once: machine files,
    protocol tables and their proofs."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._own = capture.machine.design()
        self._machines: dict[str | None, tuple[dict[str, Any], str]] = {}
        self._usual_protocols: dict[str, str] = {}
        self._tables: dict[str | None, _Table] = {}
        self._proven: set[Path] = set()
        self._fitting: set[tuple[Path, bool, bool]] = set()

    def design(
        self, machine: str | None = None, protocol: str | None = None, settings: Mapping[str, object] | None = None
    ) -> Design:
        """See resolve_design."""
        header = self._recorded[1] if machine is not None else Header()
        decision = decide(machine, protocol, settings or {}, header)
        named = decision.protocol
        default_protocol = named is None and machine is not None
        if machine is not None and named is None:
            named = Named(self._usual_protocol(machine, decision.settings))
        # The table of the recording is a file whose name may be another one.
        table = self._table(None if named is None or named.file else named.name)
        overrides = {**table.required, **decision.settings, "protocol": table.name}
        content, where = self._machine(machine)
        resolved = resolve(content, Machine, where, overrides)
        asked = resolved.design()
        _refuse(self._capture, resolved, self._own, asked)
        self._check_fit(resolved, table.path)
        if table.path not in self._proven:
            ensure_proven(table.path)
            self._proven.add(table.path)
        changed = {key: value for key, value in asked.items() if value != self._own.get(key)}
        varied = {key: value_text(key, value) for key, value in changed.items()}
        return Design(resolved, table.path, varied, machine or "", default_protocol)

    def _check_fit(self, machine: Machine, table: Path) -> None:
        """UserError if machine and protocol do not fit. Once for all designs with the same parts behind the L2s."""
        parts = (table, machine.llc is not None, machine.directory is not None)
        if parts not in self._fitting:
            check_fit(machine, table)
            self._fitting.add(parts)

    def _usual_protocol(self, machine: str, settings: Mapping[str, object] | None) -> str:
        if machine not in self._usual_protocols:
            self._usual_protocols[machine] = load_machine(machine, settings).protocol
        return self._usual_protocols[machine]

    def _machine(self, machine: str | None) -> tuple[dict[str, Any], str]:
        """The content of the machine's file (None: of the machine in the capture), and its name for messages."""
        if machine not in self._machines:
            capture = self._capture
            if machine is None:
                where = f"the machine of the capture {capture.name}"
                self._machines[machine] = parse_toml(capture.machine.resolved(), where), where
            else:
                path = find_or_file("machine", paths.MACHINES, machine)
                self._machines[machine] = read_toml(path), short_path(path)
        content, where = self._machines[machine]
        return deepcopy(content), where

    def _table(self, chosen: str | None) -> _Table:
        """The table of the chosen protocol; None: of the capture's own."""
        if chosen not in self._tables:
            self._tables[chosen] = self._read_table(chosen)
        return self._tables[chosen]

    @cached_property
    def _recorded(self) -> tuple[Path, Header]:
        """The protocol's table of the recording, and what an import names for replays on another machine."""
        capture = self._capture
        return capture_header(capture.path, capture.machine.protocol, capture.origin)

    def _read_table(self, chosen: str | None) -> _Table:
        capture = self._capture
        path = self._recorded[0] if chosen is None else find_or_file("protocol", paths.PROTOCOLS, chosen)
        name = capture.machine.protocol if chosen is None else path.stem
        check_name(name, f"protocol of the design for the capture {capture.name}", "name another one with --protocol")
        return _Table(path, name, with_inclusion(path))


def _refuse(capture: Capture, machine: Machine, own: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """UserError if the capture cannot be replayed on the machine. own, asked: the values of the two machines."""
    if capture.machine.translation != machine.translation:
        raise UserError(
            f"the capture {capture.name} was recorded on a machine with another table [translation] (page "
            "walks), and a replay cannot change page walks; record a new capture on the wanted machine"
        )
    for key in _RECORDED + (_FILTERED if capture.form == "filtered" else ()):
        if own[key] == asked[key]:
            continue
        reason = f"{capture.form} capture {capture.name} was recorded with {key} = {value_text(key, own[key])}"
        if key in _RECORDED:
            wanted = value_text(key, asked[key])
            remedy = "record a new capture with the wanted value"
            if "imported" in capture.origin:
                remedy = f"import the trace again with --set {key}={wanted}"
            raise UserError(f"the {reason} and cannot be replayed with {wanted}; {remedy}")
        raise UserError(
            f"the {reason} and lacks the accesses that hit in these L1s, so it cannot be replayed with "
            f"{value_text(key, asked[key])}; record a full capture (`s80lab capture "
            f"{capture.origin.get('experiment', 'EXPERIMENT')} --form full`) or do not change {key}"
        )
