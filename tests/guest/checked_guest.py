# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that is asked to say things of itself (boot parameter `s80.check`), without the plugin."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab import LIMIT_S

from s80lab.config.experiment import DEFAULT_SERVER, load_scale
from s80lab.config.machine import Machine, load_machine
from s80lab.guest.command import CONSOLE, RAM_FILE, Boot, Session
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import find_qemu
from s80lab.image.build import image_folder

_LOOKUP = re.compile(r'(\S+)-\d+ .* lookup: .*directory="([^"]*)" name="([^"]*)"')


@dataclass(frozen=True)
class Checked:
    """machine: as booted; result: the load generator's; console: what the guest said."""

    machine: Machine
    result: dict[str, Any]
    console: str

    def facts(self) -> dict[str, list[str]]:
        """Lines "s80check: NAME VALUE" by name."""
        found = defaultdict(list)
        for line in self.console.splitlines():
            _, mark, fact = line.partition("s80check: ")
            if mark:
                name, _, value = fact.partition(" ")
                found[name].append(value.strip())
        return dict(found)

    def lookups(self) -> Counter[tuple[str, str, str]]:
        """(program, directory, name) of each look-up that a directory's own memory of names could not answer."""
        return Counter(match.groups() for match in map(_LOOKUP.search, self.console.splitlines()) if match)  # type: ignore[misc]


def run_checked(
    folder: Path, checks: str, job: str, server: str = DEFAULT_SERVER, settings: dict[str, Any] | None = None
) -> Checked:
    """Boots the s80 guest at tiny scale with these checks and waits until its load generator has done the job.

    settings: of the machine, other than its file's."""
    machine = load_machine("s80", settings)
    arguments = f"{machine.guest.kernel_args} s80.check={checks}"
    image = image_folder("debian", server)
    booted = load_machine("s80", {**(settings or {}), "guest.kernel_args": arguments})
    boot = Boot(booted, load_scale("tiny"), image / "vmlinuz", image / "initramfs.cpio")
    (folder / "job").write_text(job)
    session = Session(folder, folder / RAM_FILE, shared=True, socket=folder, job=folder / "job")

    async def result() -> dict[str, Any]:
        with short_socket(session) as short:
            async with Guest(find_qemu(), boot, short, "checked guest") as guest:
                return await guest.event("result", LIMIT_S, lambda: None)

    said = asyncio.run(result())
    (folder / RAM_FILE).unlink()
    return Checked(machine, said, (folder / CONSOLE).read_text(errors="replace"))
