# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line. This module holds every option that a repeatable run needs, with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from s80lab.config.experiment import Scale
from s80lab.config.machine import Machine

RAM_FILE = "ram.img"
CONSOLE = "console.log"
OUTPUT = "output.jsonl"
JOB = "job.txt"
JOB_NAME = "opt/s80lab/job"


class Bootable(Protocol):
    """A guest that QEMU can boot: kernel and initramfs on a machine.

    number: from 1. It seeds the random numbers that QEMU gives the guest, so two numbers are two independent boots.
    """

    @property
    def machine(self) -> Machine: ...
    @property
    def kernel(self) -> Path: ...
    @property
    def initramfs(self) -> Path: ...
    @property
    def number(self) -> int: ...

    def memory(self) -> int:
        """Bytes of the guest's memory."""
        ...

    def append(self) -> str:
        """The kernel's command line."""
        ...

    def devices(self) -> Sequence[str]:
        """Options for devices beyond the serial ports. They contain no paths."""
        ...

    def backends(self, folder: Path) -> Sequence[str]:
        """Options for the host's side of these devices. folder: that of the session."""
        ...


@dataclass(frozen=True)
class Boot:
    """The boot of a guest with a server, and with a mail store of a scale."""

    machine: Machine
    scale: Scale
    kernel: Path
    initramfs: Path
    number: int = 1

    def append(self) -> str:
        """The kernel's command line."""
        disks = f" s80.disk_ns={self.scale.disks.delay_ns(self.machine.clock_shift)}" if self.scale.disks else ""
        return f"{self.machine.kernel_args()} {self.scale.boot_line()}{disks}"

    def memory(self) -> int:
        return self.scale.memory()

    def devices(self) -> Sequence[str]:
        return ()

    def backends(self, folder: Path) -> Sequence[str]:
        return ()


@dataclass(frozen=True)
class Session:
    """One QEMU process: its RAM file, its job and the arguments of the plugin.

    shared: the guest's stores go to the RAM file, because a checkpoint is made. Otherwise the mapping is private.
    """

    folder: Path
    ram: Path
    shared: bool
    socket: Path
    job: Path | None = None
    plugin: Path | None = None
    plugin_arguments: Mapping[str, object] | None = None
    incoming: bool = False


def guest_options(boot: Bootable) -> list[str]:
    """QEMU options that the guest can observe, without paths. They are part of every checkpoint's key."""
    return [
        # No device whose work is done on the host's clock: no network, disk or display.
        *("-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-nic", "none"),
        *("-accel", "tcg"),
        # One instruction is one nanosecond of virtual time, which the plugin corrects to simulated time; idle time is
        # jumped over instead of slept.
        *("-icount", "shift=0,sleep=off"),
        *("-smp", _topology(boot.machine), "-cpu", boot.machine.guest.cpu),
        *("-m", str(boot.memory() >> 20)),
        *("-machine", "pc,hpet=off,memory-backend=ram0"),
        *("-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", str(boot.number)),
        # panic=-1 asks for a reboot, which ends QEMU.
        "-no-reboot",
        *("-append", boot.append()),
        *boot.devices(),
    ]


def arguments(boot: Bootable, session: Session) -> list[str]:
    """All options after the name of the binary."""
    share = "share=on" if session.shared else "share=off,readonly=on,rom=off"
    options = [
        *boot.backends(session.folder),
        *guest_options(boot),
        *("-object", f"memory-backend-file,id=ram0,size={boot.memory()},mem-path={option_value(session.ram)},{share}"),
        *("-kernel", str(boot.kernel), "-initrd", str(boot.initramfs)),
        *_serial("console", session.folder / CONSOLE),
        *_serial("output", session.folder / OUTPUT),
        *("-qmp", f"unix:{option_value(session.socket)},server=on,wait=off"),
    ]
    if session.job is not None:
        options += ["-fw_cfg", f"name={JOB_NAME},file={option_value(session.job)}"]
    if session.plugin is not None:
        options += ["-plugin", plugin_option(session.plugin, session.plugin_arguments or {})]
    if session.incoming:
        options += ["-incoming", "defer"]
    return options


def _topology(machine: Machine) -> str:
    """One socket for each core, so that no two cores appear to share a cache."""
    processors, threads = machine.processors, machine.processors.threads_per_core
    return f"{processors.count},sockets={processors.count // threads},cores=1,threads={threads}"


def _serial(name: str, path: Path) -> list[str]:
    """A serial port that writes to a file. Output does not disturb the guest's timing; input would."""
    return ["-chardev", f"file,id={name},path={option_value(path)}", "-serial", f"chardev:{name}"]


def plugin_option(plugin: Path, values: Mapping[str, Any]) -> str:
    """QEMU's option for the plugin and its arguments.

    Paths are absolute and contain no links: the plugin looks for the RAM file in /proc/self/maps, where Linux shows
    paths in this form.
    """
    values = {key: value.resolve() if isinstance(value, Path) else value for key, value in values.items()}
    return ",".join([option_value(plugin), *(f"{key}={option_value(value)}" for key, value in values.items())])


def option_value(value: object) -> str:
    """A value within an option that has several values. Commas in the value are doubled, because a single comma would
    begin another option."""
    return str(value).replace(",", ",,")
