# SPDX-License-Identifier: GPL-2.0-or-later
"""Controls a running QEMU over QMP: save, restore, quit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from qemu.qmp import ExecuteError, QMPClient, QMPError

from s80lab.base.errors import UserError

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)
POLL_S = 0.02


class Monitor:
    """One QMP connection."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._client = QMPClient("s80lab")

    async def connect(self) -> None:
        """Connect as soon as QEMU has created the socket. The caller limits the wait."""
        while True:
            try:
                await self._client.connect(str(self._socket))
                return
            except QMPError:
                self._client = QMPClient("s80lab")
                await asyncio.sleep(POLL_S)

    async def command(self, name: str, **arguments: object) -> Any:
        """Send one QMP command and return its answer. Underscores in argument names stand for hyphens."""
        try:
            return await self._client.execute(name, {key.replace("_", "-"): value for key, value in arguments.items()})
        except ExecuteError as error:
            raise UserError(f"QEMU refused the command `{name}`: {error}") from None

    async def restore(self, state: Path, before: Callable[[], object] = lambda: None) -> None:
        """Load a saved state (QEMU was started with -incoming defer), call `before`, and let the guest run."""
        await self._ignore_shared()
        # The self-announcement after a restore runs on real-time timers, which would cut the vCPUs' time slices.
        await self.command("migrate-set-parameters", announce_rounds=0)
        await self.command("migrate-incoming", uri=f"file:{state}")
        while (await self.command("query-status"))["status"] == "inmigrate":
            await asyncio.sleep(POLL_S)
        before()
        await self.command("cont")

    async def save(self, state: Path) -> None:
        """Stop the guest and write its state to `state`, except the RAM, which is a shared file."""
        await self.command("stop")
        await self._ignore_shared()
        await self.command("migrate", uri=f"file:{state}")
        while True:
            answer = await self.command("query-migrate")
            status = answer.get("status")
            if status == "completed":
                return
            if status in ("failed", "cancelled"):
                raise UserError(f"QEMU could not save the guest's state: {answer.get('error-desc', status)}")
            await asyncio.sleep(POLL_S)

    async def quit(self) -> None:
        """Ask QEMU to exit. The connection is closed afterwards."""
        with suppress(ExecuteError, QMPError, EOFError):
            await self._client.execute("quit")
        await self.close()

    async def close(self) -> None:
        with suppress(QMPError, EOFError, OSError):
            await self._client.disconnect()

    async def _ignore_shared(self) -> None:
        capability = {"capability": "x-ignore-shared", "state": True}
        await self.command("migrate-set-capabilities", capabilities=[capability])
