# SPDX-License-Identifier: GPL-2.0-or-later
"""The command as a process: UTF-8 in any locale, and messages for errors of the operating system and the database."""

from __future__ import annotations

import locale
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from s80lab.base.errors import UserError
from s80lab.base.terminal import say

INTERRUPTED = "interrupted: complete results are kept, partial results are deleted; repeat the command to continue"
EXEC_FAILED = 125
"""Exit code of `s80lab exec` if s80lab itself fails, as of env(1): lower ones are the program's."""


def speak_utf8() -> None:
    """Switch to UTF-8, the encoding of all our files: in another locale the process restarts in Python's UTF-8 mode.
    A character that the terminal cannot show becomes a question mark."""
    if locale.getencoding().lower() not in ("utf-8", "utf8") and not sys.flags.utf8_mode:
        command = [sys.executable, "-X", "utf8", "-m", "s80lab", *sys.argv[1:]]
        if os.name == "nt":  # execv of Windows does not wait for the new process
            sys.exit(subprocess.call(command))
        os.execv(sys.executable, command)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """While the block imports modules, Ctrl-C and SIGTERM end the process at once and without a message. Use this only
    where nothing needs to be cleaned up. A signal that the caller ignores stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    raising = [number for number, handler in before.items() if handler is signal.default_int_handler]
    for number in raising:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in raising:
            signal.signal(number, before[number])


@contextmanager
def reports_interruption() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the block with one sentence and the exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        import typer

        # The cursor of a terminal stands behind ^C, or behind a question.
        if sys.stderr.isatty():
            print(file=sys.stderr)
        say(f"s80lab: {INTERRUPTED}")
        raise typer.Exit(130) from None


def sentence_of(error: BaseException) -> str:
    """One sentence about an error that the user can fix; empty for a defect of s80lab."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "the host has too little free memory for this command; use a smaller input, or end other programs"
    # Imported only here, because a command without an error needs neither.
    import sqlite3

    from s80lab.base import paths
    from s80lab.base.staging import full_sentence, is_full
    from s80lab.base.strict import short_path

    if isinstance(error, sqlite3.DatabaseError):
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return full_sentence(paths.database().parent)
        where = short_path(paths.database())
        return f"{where}: {error}; move the file away and run `s80lab collect` to enter the runs into a new database"
    if isinstance(error, OSError) and error.strerror:
        # A failed copy names source and target; on a full disk, the target is at fault.
        name = error.filename2 if error.filename2 and is_full(error) else error.filename
        where = f"{short_path(paths.HOME / str(name))}: " if name else ""
        return f"{where}{error.strerror}"
    return ""
