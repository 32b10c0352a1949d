# SPDX-License-Identifier: GPL-2.0-or-later
"""A server in the guest that ends: the functions of its script, run by this machine's shell, and the host's message."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.lab import LIMIT_S

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.command import CONSOLE, OUTPUT, Session
from s80lab.guest.process import Guest

FUNCTIONS = paths.ROOT / "disk-images" / "common" / "rootfs" / "usr" / "lib" / "s80lab" / "functions.sh"
# What init defines, an applet of busybox, and the end of the servers.
INIT = """
fail() { echo "FAILED $1"; exit 1; }
usleep() { sleep 0.02; }
trap 'cut -d " " -f 1 servers | xargs kill' EXIT
"""


def boot(folder: Path, script: str) -> list[str]:
    """The lines that a server's script prints."""
    text = f"cd {folder}\n{INIT}\n. {FUNCTIONS}\nSERVERS=servers\n{script}"
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, timeout=LIMIT_S)
    return done.stdout.splitlines()


def test_await_names_what_it_waits_for(tmp_path: Path) -> None:
    assert boot(tmp_path, "await 600 'Mail (port 1)' log true; say servers") == [
        "s80lab: waiting for Mail (port 1)",
        "s80lab: servers",
    ]


def test_await_fails_with_the_last_words_of_a_server_that_ends(tmp_path: Path) -> None:
    server = "sh -c 'echo hello; echo Fatal: Unknown setting >&2; exit 89'"
    assert boot(tmp_path, f"start_server 'Mail server' log {server}; await 100000 'Mail (port 1)' log false") == [
        "s80lab: waiting for Mail (port 1)",
        "FAILED Mail server ended: Fatal: Unknown setting",
    ]
    assert (tmp_path / "log").read_text() == "hello\nFatal: Unknown setting\n"


def test_await_watches_every_server_and_names_an_empty_log(tmp_path: Path) -> None:
    script = "start_server One one false; start_server Two two sleep 600; await 100000 'Two (port 2)' two false"
    assert boot(tmp_path, script)[1:] == ["FAILED One ended: its log is empty"]


def test_await_ignores_other_processes_that_end(tmp_path: Path) -> None:
    script = "start_server Mail log sleep 600; true & await 100000 Mail log test -e servers"
    assert boot(tmp_path, script) == ["s80lab: waiting for Mail"]


def test_await_fails_after_its_seconds(tmp_path: Path) -> None:
    script = "start_server Mail log sleep 600; await 0 Mail log false"
    assert boot(tmp_path, script)[1:] == ["FAILED Mail does not answer"]


@dataclass(frozen=True)
class Process:
    """The part of a process that a guest looks at."""

    returncode: int | None


def failure_of(folder: Path, console: str, *, ended: bool = False) -> str | None:
    """What is reported of a guest whose load generator has failed, with this on its console; None: nothing yet."""
    (folder / CONSOLE).write_text(console)
    (folder / OUTPUT).write_text('{"event":"result"}\n{"event":"error","message":"connection lost"}\n')
    guest = Guest(cast(Any, None), cast(Any, None), Session(folder, folder / "ram", True, folder), "boot")
    guest._process = cast(Any, Process(0 if ended else None))
    try:
        guest.check()
    except UserError as error:
        return str(error).partition("; last lines")[0]
    return None


def test_error_of_the_load_generator_is_reported_with_the_server_that_ended(tmp_path: Path) -> None:
    error = "boot: the load generator failed: connection lost"
    assert failure_of(tmp_path, "s80lab: FAILED Dovecot ended: Out of memory\n") == (
        f"{error}; the guest gave up: Dovecot ended: Out of memory"
    )
    assert failure_of(tmp_path, "s80lab: FAILED the load generator ended with code 1\n") == error
    assert failure_of(tmp_path, "s80lab: ready\n", ended=True) == error
    assert failure_of(tmp_path, "s80lab: ready\n") is None, "init has not printed the reason yet"
