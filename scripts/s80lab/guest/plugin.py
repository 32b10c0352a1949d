# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the plugin into QEMU without a guest, so that a plugin that does not fit this host is found before a boot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.programs import built
from s80lab.guest.command import plugin_option
from s80lab.guest.process import PLUGIN_PREFIX
from s80lab.guest.qemu import Qemu

LIMIT_S = 60
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
# QEMU defines these symbols, so a plugin lacks them outside QEMU.
_OF_QEMU = "undefined symbol: qemu_plugin_"


def check_plugin(plugin: Path, qemu: Qemu | None) -> None:
    """UserError if the plugin is missing or cannot be loaded on this host. Nothing is written.

    qemu: the QEMU that loads the plugin; without one, only the plugin's libraries are loaded.
    """
    why = _why_not_in_qemu(built(plugin), qemu) if qemu else _why_not_in_python(built(plugin))
    if why:
        raise UserError(
            f"the plugin {plugin} cannot be loaded ({why}), so this host cannot measure: build s80lab on this "
            "release of the system (`make build` in a clone, or `make wheel` for a package)"
        )


def _why_not_in_qemu(plugin: Path, qemu: Qemu) -> str:
    """The reason why QEMU cannot load the plugin, or an empty text.

    The plugin gets no arguments. If its code runs, it asks for them, and QEMU ends.
    """
    command = [*qemu.command(), "-machine", "none", "-display", "none", "-plugin", plugin_option(plugin, {})]
    try:
        done = subprocess.run(
            command,
            env=qemu.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{qemu.binary} cannot be started: {error.strerror if isinstance(error, OSError) else error}"
    lines = done.stderr.strip().splitlines() or [f"QEMU {qemu.version} ended with code {done.returncode}"]
    if any(line.startswith(PLUGIN_PREFIX) for line in lines):
        return ""
    return lines[-1].rpartition(f"{plugin}: ")[2]


def _why_not_in_python(plugin: Path) -> str:
    """The reason why a program other than QEMU cannot load the plugin, or an empty text."""
    command = [sys.executable, "-c", _LOAD, str(plugin)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    lines = done.stderr.strip().splitlines()
    return "" if not lines or _OF_QEMU in lines[-1] else lines[-1].removeprefix("OSError: ").removeprefix(f"{plugin}: ")
