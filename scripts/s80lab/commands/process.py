# SPDX-License-Identifier: GPL-2.0-or-later
"""The command as a process: UTF-8 in any locale, and messages for errors of the operating system and the database."""

from __future__ import annotations

import locale
import os
import sqlite3
import subprocess
import sys

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import shown


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


def sentence_of(error: BaseException) -> str:
    """One sentence about an error that the user can fix; empty for a defect of s80lab."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, sqlite3.DatabaseError):
        where = shown(paths.database())
        return f"{where}: {error}; move the file away and run `s80lab collect` to enter the runs into a new database"
    if isinstance(error, OSError) and error.strerror:
        where = f"{shown(paths.HOME / str(error.filename))}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return ""
