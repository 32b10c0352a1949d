# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes Python on Linux lack what Python lacks on other systems. Python reads this file when it starts: tests name its
folder in $PYTHONPATH.

Python's own library may still import the modules. Its files for Linux need them (asyncio, subprocess); on another
system Python uses other files in their place.
"""

from __future__ import annotations

import builtins
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
OF_OS = ("O_DIRECTORY", "SEEK_DATA", "getegid", "geteuid", "getgid", "getuid", "killpg", "sched_getaffinity", "setsid")
LIBRARY = str(Path(os.__file__).parent) + os.sep

_import = builtins.__import__


def limited_import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> object:
    """Import a module, except one of MODULES for a file outside Python's own library."""
    importer = str((globals or {}).get("__file__", ""))
    if level == 0 and name in MODULES and not importer.startswith(LIBRARY):
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    return _import(name, globals, locals, fromlist or (), level)


setattr(builtins, "__import__", limited_import)  # noqa: B010 - mypy knows the name as a function
for function in OF_OS:
    delattr(os, function)
delattr(signal, "SIGKILL")
