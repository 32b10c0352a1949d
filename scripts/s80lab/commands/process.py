# SPDX-License-Identifier: GPL-2.0-or-later
"""The command as a process: how it speaks in any locale, and what it says of failures that nobody foresaw by name."""

from __future__ import annotations

import locale
import os
import sqlite3
import sys

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import shown


def speak_utf8() -> None:
    """All our files are UTF-8: in another locale the process starts again in Python's UTF-8 mode. What a terminal
    cannot show becomes a question mark."""
    if locale.getencoding().lower() not in ("utf-8", "utf8") and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "s80lab", *sys.argv[1:]])
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def sentence_of(error: BaseException) -> str:
    """What the user can mend, in one sentence; empty for what is a defect of ours."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, sqlite3.DatabaseError):
        where = shown(paths.database())
        return f"{where}: {error}; move it away: `s80lab run` enters the runs that are there into a new one"
    if isinstance(error, OSError) and error.strerror:
        where = f"{shown(paths.HOME / str(error.filename))}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return ""
