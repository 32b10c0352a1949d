# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences between releases of gem5 that matter to s80lab, in one table: RELEASES.

The table recognises a gem5 by its build options and not by its version, because a fork keeps the version of the release
that it comes from. The first row that recognises the gem5 counts. A fork with other names gets a row of its own at the
top; docs/guides/gem5.md says how. `s80lab gem5 check` then shows whether the row is right.

The table needs no gem5: the functions that need one import it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from machine_file import MachineError

PROTOCOL = "MOESI_hammer"
SYMBOL = "RUBY_PROTOCOL_"

Options = Mapping[str, Any]


def _sole_protocol(options: Options) -> tuple[str, ...]:
    """The protocol of a gem5 that has one protocol at most."""
    name = options.get("PROTOCOL", "")
    return (name,) if name else ()


def _selected_protocols(options: Options) -> tuple[str, ...]:
    """The protocols of a gem5 that can have several: each has an option of its own, spelt like the protocol."""
    return tuple(
        sorted(key.removeprefix(SYMBOL) for key, chosen in options.items() if key.startswith(SYMBOL) and chosen)
    )


@dataclass(frozen=True)
class Exits:
    """The causes with which m5.simulate() returns, as text."""

    limit: str = "simulate() limit reached"
    fail: str = "m5_fail instruction encountered"
    exit: str = "m5_exit instruction encountered"
    checkpoint: str = "checkpoint"
    work_begin: str = "workbegin"
    work_end: str = "workend"
    # The cause contains this text when a traffic generator has reached its last state.
    generator: str = "exit state"


@dataclass(frozen=True)
class Release:
    """How the releases of one row name what s80lab uses."""

    since: str
    """The first release of the row."""
    tried: str
    """The builds on which s80lab was tried."""
    recognises: Callable[[Options], bool]
    """Whether a gem5 with these build options (m5.defines.buildEnv) belongs to this row."""
    protocols: Callable[[Options], tuple[str, ...]]
    """The coherence protocols of Ruby in a gem5 with these build options."""
    controller: str
    """Name of the Python class of a protocol's controller: {protocol} and {machine} are replaced."""
    directory_memory: Callable[[int], dict[str, Any]]
    """The parameters that RubyDirectoryMemory and RubyPrefetcher need, from the bytes of a line."""
    absent: tuple[str, ...] = ()
    """Classes that a build without an instruction set lacks, although gem5's standard library imports them."""
    exits: Exits = field(default_factory=Exits)
    rows: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of names in stats.txt that differ from those of scripts/s80lab/gem5/table.py: this release's name, and
    the name in table.py."""


RELEASES = (
    Release(
        since="24.1",
        tried="development state of 25.0 (commit fd8151994d)",
        recognises=lambda options: f"{SYMBOL}{PROTOCOL}" in options,
        protocols=_selected_protocols,
        controller="{protocol}_{machine}_Controller",
        directory_memory=lambda line_bytes: {"block_size": line_bytes},
        absent=("PcCountTrackerManager",),
    ),
    Release(
        since="24.0",
        tried="24.0.0.1",
        recognises=lambda options: True,
        protocols=_sole_protocol,
        controller="{machine}_Controller",
        directory_memory=lambda line_bytes: {},
    ),
)


def find_release(options: Options) -> Release:
    """The row of a gem5 with these build options."""
    return next(release for release in RELEASES if release.recognises(options))


def this_release() -> Release:
    """The row of the gem5 that runs this script."""
    from m5.defines import buildEnv

    return find_release(buildEnv)


def this_protocols() -> tuple[str, ...]:
    """The coherence protocols in the gem5 that runs this script."""
    from m5.defines import buildEnv

    return this_release().protocols(buildEnv)


def controller(machine: str, protocol: str = PROTOCOL) -> Any:
    """The class of a protocol's controller for a type of machine, such as `L1Cache`, `Directory` or `DMA`.

    MachineError: this gem5 was built without the protocol.
    """
    import m5.objects

    if protocol not in this_protocols():
        has = ", ".join(this_protocols()) or "no protocol of Ruby"
        raise MachineError(f"this gem5 was built with {has}; build it with {protocol} (docs/guides/gem5.md)")
    return getattr(m5.objects, this_release().controller.format(protocol=protocol, machine=machine))


def instantiate(board: Any, full_system: bool, checkpoint: str | None = None) -> None:
    """Create the simulation of this board, from a checkpoint if one is given.

    Until 24.0 the script makes the root object; later the board makes it.
    """
    import m5
    from m5.objects import Root

    if board._pre_instantiate() is None:
        Root(full_system=full_system, board=board)
    m5.instantiate(checkpoint)
    board._post_instantiate()
