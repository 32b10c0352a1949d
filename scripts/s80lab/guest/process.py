# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one guest: starts QEMU, watches it, and turns any failure into one clear sentence."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from qemu.qmp import ExecuteError, QMPClient, QMPError

from s80lab.base.errors import UserError
from s80lab.base.follow import Follower, tail
from s80lab.base.staging import full_sentence, nearly_full, scratch
from s80lab.guest.command import CONSOLE, OUTPUT, Bootable, Session, arguments
from s80lab.guest.console import STARTING, word
from s80lab.guest.qemu import Qemu

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)
QMP_POLL_S = 0.02


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
                await asyncio.sleep(QMP_POLL_S)

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
            await asyncio.sleep(QMP_POLL_S)
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
            await asyncio.sleep(QMP_POLL_S)

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


POLL_S = 0.1
MONITOR_LIMIT_S = 60.0
QUIT_LIMIT_S = 120.0
# From the error of the load generator until init has printed which server ended, and its last words.
INIT_LIMIT_S = 5.0
STDERR = "qemu.stderr"
# What Linux allows a socket's name, without the zero behind it.
SOCKET_BYTES = 107
PLUGIN_PREFIX = "s80lab-plugin: "

# The shell ends if its parent is no longer the process whose number is $0.
_WITH_PARENT = '[ "$PPID" = "$0" ] && exec "$@"'

T = TypeVar("T")


class Guest:
    """Async context manager around one QEMU process. Leaving it always ends the process."""

    def __init__(self, qemu: Qemu, boot: Bootable, session: Session, name: str) -> None:
        self.name = name
        self.session = session
        self.stage = STARTING
        self._qemu = qemu
        self._boot = boot
        self._console = Follower(session.folder / CONSOLE)
        self._output = Follower(session.folder / OUTPUT)
        self._events: list[dict[str, Any]] = []
        self._load_error = ""
        self._load_error_at = 0.0
        self._process: asyncio.subprocess.Process | None = None
        self._monitor = Monitor(session.socket)

    async def __aenter__(self) -> Self:
        command = [*self._qemu.command(), *arguments(self._boot, self.session)]
        # Its own session: a terminal's Ctrl-C is ours.
        with (self.session.folder / STDERR).open("wb") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                *dies_with_us(),
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                env=self._qemu.environment(),
                start_new_session=True,
            )
        try:
            await self.during("its monitor socket", self._monitor.connect(), MONITOR_LIMIT_S)
        except BaseException:
            await self._kill()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._kill()

    async def restore(self, state: Path, before: Callable[[int], object] = lambda pid: None) -> None:
        """Load a saved state and let the guest run. before: called with the id of QEMU's process when the state is
        loaded, before the guest runs."""
        assert self._process is not None
        pid = self._process.pid
        await self.during(
            "the restored guest to run", self._monitor.restore(state, lambda: before(pid)), MONITOR_LIMIT_S
        )

    async def save(self, state: Path) -> None:
        await self.during("QEMU to save the guest", self._monitor.save(state), MONITOR_LIMIT_S)

    async def pause(self) -> int:
        """Pause the guest. Return the id of QEMU's process, in which the guest's memory can be read."""
        assert self._process is not None
        await self.during("QEMU to stop the guest", self._monitor.command("stop"), MONITOR_LIMIT_S)
        return self._process.pid

    async def quit(self) -> None:
        """Let QEMU exit in an orderly way, so that the plugin writes its output. UserError: QEMU or the plugin
        failed."""
        assert self._process is not None
        await self._monitor.quit()
        try:
            await asyncio.wait_for(self._process.wait(), QUIT_LIMIT_S)
        except TimeoutError:
            raise self._failure(f"QEMU did not end within {QUIT_LIMIT_S:.0f} s") from None
        if self._process.returncode:
            raise self._failure(self._why_ended())

    async def wait(self, what: str, look: Callable[[], T | None], limit_s: float) -> T:
        """The first result of `look` that is not None. UserError: the guest failed, or made no progress for `limit_s`.

        Every line on the guest's console or output counts as progress. `look` may also call `moved`.
        """
        self.moved()
        while True:
            found = look()
            if found is not None and not self._load_error:
                return found
            self.check()
            if time.monotonic() - self._moved_at > limit_s:
                raise self._failure(f"nothing happened for {limit_s:.0f} s while waiting for {what}")
            await asyncio.sleep(POLL_S)

    def moved(self) -> None:
        """Note that the guest has made progress."""
        self._moved_at = time.monotonic()

    async def event(self, name: str, limit_s: float, show: Callable[[], object]) -> dict[str, Any]:
        """The guest's first `{"event": name, ...}` on ttyS1. `show` is called at every look."""

        def look() -> dict[str, Any] | None:
            show()
            return self.found(name)

        return await self.wait(f"the guest's `{name}`", look, limit_s)

    def found(self, name: str) -> dict[str, Any] | None:
        """The guest's first event of that name on ttyS1, if it has come."""
        return next((event for event in self._events if event.get("event") == name), None)

    def check(self) -> None:
        """Read new output of the guest. UserError: the guest has failed, or QEMU has ended."""
        assert self._process is not None
        ended = self._process.returncode is not None
        for line in self._output.lines():
            self.moved()
            event = _event(line)
            if event is None:
                continue
            if event.get("event") == "error" and not self._load_error:
                self._load_error = f"the load generator failed: {event.get('message', 'no reason given')}"
                self._load_error_at = time.monotonic()
            self._events.append(event)
        for line in self._console.lines():
            self.moved()
            if reported := word(line):
                if reported.failure:
                    raise self._failure(self._with_load_error(reported.failure))
                self.stage = reported.stage
        if self._load_error and (ended or time.monotonic() - self._load_error_at > INIT_LIMIT_S):
            raise self._failure(self._load_error)
        if ended:
            raise self._failure(self._why_ended())

    def _with_load_error(self, reason: str) -> str:
        """The reason for which init gave up, after the error of the load generator that led to it."""
        if not self._load_error:
            return reason
        return self._load_error if "the load generator ended" in reason else f"{self._load_error}; {reason}"

    async def during(self, what: str, work: Awaitable[T], limit_s: float) -> T:
        """Await `work`. UserError: QEMU ended first, or `work` took longer than `limit_s`."""
        assert self._process is not None
        task = asyncio.ensure_future(work)
        ending = asyncio.ensure_future(self._process.wait())
        try:
            done, _ = await asyncio.wait({task, ending}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if task in done:
                return task.result()
            if ending in done:
                self.check()
                raise self._failure(self._why_ended())
            raise self._failure(f"QEMU did not answer within {limit_s:.0f} s while waiting for {what}")
        finally:
            for pending in (task, ending):
                pending.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await pending

    def _why_ended(self) -> str:
        assert self._process is not None
        lines = [line for line in _lines(self.session.folder / STDERR) if line.strip()]
        for line in lines:
            if line.startswith(PLUGIN_PREFIX):
                return f"the plugin failed: {line.removeprefix(PLUGIN_PREFIX)}"
        if not lines and nearly_full(self.session.folder):
            return full_sentence(self.session.folder)
        code = self._process.returncode
        last_words = f": {lines[-1].strip()}" if lines else ""
        if code is not None and code < 0:
            return f"QEMU was ended by signal {signal.Signals(-code).name}{last_words}"
        return f"QEMU ended unexpectedly with code {code}{last_words}"

    def _failure(self, reason: str) -> UserError:
        return UserError(f"{self.name}: {reason}; last lines of the console:{tail(self.session.folder / CONSOLE)}")

    async def _kill(self) -> None:
        if self._process is None:
            return
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await self._monitor.close()


def dies_with_us() -> tuple[str, ...]:
    """The words in front of a command line whose process dies with this one, even if this one is killed.

    The kernel does not send the signal if this process died before `setpriv` asked for it, so a shell looks afterwards
    whether this process is still the parent.
    """
    return ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", _WITH_PARENT, str(os.getpid()))


@contextmanager
def short_socket(session: Session) -> Iterator[Session]:
    """The session with its monitor socket in a temporary folder, because socket names are limited to 107 bytes."""
    with scratch() as folder:
        socket = folder / "qmp"
        if len(os.fsencode(socket)) > SOCKET_BYTES:
            raise UserError(
                f"the name of the folder for temporary files, {folder.parent.parent}, is too long for a socket: "
                "set TMPDIR to a folder with a shorter name, for example /tmp"
            )
        yield replace(session, socket=socket)


def _event(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.is_file() else []
