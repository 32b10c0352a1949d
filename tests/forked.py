# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab` called many times. Importing it is most of what a short command takes, so a call is a fork of a process that
has done so: a process of its own, with the environment, folder, stdout and stderr that it is given."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from s80lab.base import paths

# Read when Python starts or s80lab is imported: a call that has them otherwise needs a start of its own.
_EARLY = ("PYTHON", "LC_", "LANG", "S80LAB_HOME", "XDG_DATA_HOME", "HOME", "MPL")
_MESSAGE = 1 << 20


def command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "s80lab", *arguments]


def call(arguments: Sequence[str], environment: Mapping[str, str], limit_s: float) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run(command(arguments), ...)` that captures stdout and stderr."""
    parent = _parent()
    if _early(environment) != parent.early:
        return subprocess.run(
            command(arguments),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
        )
    return parent.call(arguments, environment, limit_s)


def _early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_EARLY)}


@cache
def _parent() -> _Parent:
    return _Parent()


class _Parent:
    """The process that has imported s80lab; it ends with this one."""

    def __init__(self) -> None:
        self.early = _early(os.environ)
        self.turn = threading.Lock()
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = f"from tests.forked import serve; serve({theirs.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=paths.ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
        )
        theirs.close()

    def call(
        self, arguments: Sequence[str], environment: Mapping[str, str], limit_s: float
    ) -> subprocess.CompletedProcess[str]:
        wanted = json.dumps([arguments, dict(environment), str(Path.cwd())]).encode()
        with self.turn, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            socket.send_fds(self.ours, [wanted], [out.fileno(), err.fileno()])
            self.ours.settimeout(limit_s)
            try:
                said = self.ours.recv(_MESSAGE)
            except TimeoutError:
                self.process.terminate()  # it ends the call, too
                _parent.cache_clear()
                raise subprocess.TimeoutExpired(arguments, limit_s) from None
            assert said, f"the process that forks has ended with code {self.process.wait()}"
            return subprocess.CompletedProcess(arguments, int(said), _text(out), _text(err))


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()


def serve(number: int) -> None:
    """What the process does that has imported s80lab. number: its end of the socket."""
    from s80lab import __main__
    from s80lab.commands.line.app import declarations

    for declaration in declarations():
        declaration.worker()
    sys.modules["__main__"] = __main__
    child = 0

    def end(*_: object) -> None:
        if child:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with socket.socket(fileno=number) as theirs:
        while True:
            wanted, files, _, _ = socket.recv_fds(theirs, _MESSAGE, 2)
            if not wanted:
                return
            child = os.fork()
            if child == 0:
                theirs.close()
                _become(*json.loads(wanted), *files)
            for file in files:
                os.close(file)
            _, status = os.waitpid(child, 0)
            child = 0
            theirs.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(arguments: list[str], environment: dict[str, str], folder: str, out: int, err: int) -> None:
    """The command, from here to its end."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        main = sys.modules["__main__"]
        sys.argv = [str(main.__file__), *arguments]
        main.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
