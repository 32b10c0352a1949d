# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's command line. This module holds every option that a repeatable run needs, with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.config.experiment import Scale
from s80lab.config.machine import Machine, Processors

RAM_FILE = "ram.img"
CONSOLE = "console.log"
OUTPUT = "output.jsonl"
JOB = "job.txt"
JOB_NAME = "opt/s80lab/job"


@dataclass(frozen=True)
class Boot:
    """The boot of a guest: kernel and initramfs on a machine, with a mail store of a scale.

    number: from 1. It seeds the random numbers that QEMU gives the guest, so two numbers are two independent boots.
    """

    machine: Machine
    scale: Scale
    kernel: Path
    initramfs: Path
    number: int = 1

    def append(self) -> str:
        """The kernel's command line."""
        disks = f" s80.disk_ns={self.scale.disks.delay_ns(self.machine.clock_shift)}" if self.scale.disks else ""
        return f"{self.machine.kernel_args()} {self.scale.boot_line()}{disks}"


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


def guest_options(boot: Boot) -> list[str]:
    """QEMU options that the guest can observe, without paths. They are part of every checkpoint's key."""
    return [
        # No device whose work is done on the host's clock: no network, disk or display.
        *("-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-nic", "none"),
        *("-accel", "tcg"),
        # One instruction is one nanosecond of virtual time, which the plugin corrects to simulated time; idle time is
        # jumped over instead of slept.
        *("-icount", "shift=0,sleep=off"),
        *("-smp", _topology(boot.machine.processors), "-cpu", boot.machine.guest.cpu),
        *("-m", str(boot.scale.memory() >> 20)),
        *("-machine", "pc,hpet=off,memory-backend=ram0"),
        *("-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", str(boot.number)),
        # panic=-1 asks for a reboot, which ends QEMU.
        "-no-reboot",
        *("-append", boot.append()),
    ]


def arguments(boot: Boot, session: Session) -> list[str]:
    """All options after the name of the binary."""
    share = "share=on" if session.shared else "share=off,readonly=on,rom=off"
    options = [
        *guest_options(boot),
        *("-object", f"memory-backend-file,id=ram0,size={boot.scale.memory()},mem-path={_value(session.ram)},{share}"),
        *("-kernel", str(boot.kernel), "-initrd", str(boot.initramfs)),
        *_serial("console", session.folder / CONSOLE),
        *_serial("output", session.folder / OUTPUT),
        *("-qmp", f"unix:{_value(session.socket)},server=on,wait=off"),
    ]
    if session.job is not None:
        options += ["-fw_cfg", f"name={JOB_NAME},file={_value(session.job)}"]
    if session.plugin is not None:
        options += ["-plugin", plugin_option(session.plugin, session.plugin_arguments or {})]
    if session.incoming:
        options += ["-incoming", "defer"]
    return options


def _topology(processors: Processors) -> str:
    """One socket for each core, so that no two cores appear to share a cache."""
    threads = processors.threads_per_core
    return f"{processors.count},sockets={processors.count // threads},cores=1,threads={threads}"


def _serial(name: str, path: Path) -> list[str]:
    """A serial port that writes to a file. Output does not disturb the guest's timing; input would."""
    return ["-chardev", f"file,id={name},path={_value(path)}", "-serial", f"chardev:{name}"]


def plugin_option(plugin: Path, values: Mapping[str, Any]) -> str:
    """QEMU's option for the plugin and its arguments.

    Paths are absolute and contain no links: the plugin looks for the RAM file in /proc/self/maps, where Linux shows
    paths in this form.
    """
    values = {key: value.resolve() if isinstance(value, Path) else value for key, value in values.items()}
    return ",".join([_value(plugin), *(f"{key}={_value(value)}" for key, value in values.items())])


def _value(value: object) -> str:
    """A value within an option that has several values. Commas in the value are doubled, because a single comma would
    begin another option."""
    return str(value).replace(",", ",,")
