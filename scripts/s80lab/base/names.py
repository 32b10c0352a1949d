# SPDX-License-Identifier: GPL-2.0-or-later
"""Names from files of other people that become names of files and folders."""

from __future__ import annotations

import re

from s80lab.base.errors import UserError
from s80lab.base.terminal import quoted

MOST_BYTES = 128
"""Length of a name in UTF-8; names of runs contain it together with other words, within the file system's 255 bytes."""
RULE = (
    "a name begins with a letter, a digit or _, contains only letters, digits, blanks and . _ - + = , @, "
    f"and has at most {MOST_BYTES} bytes"
)
_NAME = re.compile(r"\w(?:[\w .+=,@-]*[\w.+=,@-])?")


def is_name(name: str) -> bool:
    """Whether a name can safely name a file or folder (RULE): no path, no option, no pattern, no control character."""
    return _NAME.fullmatch(name) is not None and len(name.encode()) <= MOST_BYTES


def check_name(name: str, where: str, remedy: str) -> str:
    """The name. UserError if `is_name` rejects it. where: what contains the name; remedy: what the user can do."""
    if not is_name(name):
        raise UserError(f"{where}: the name {quoted(name)} cannot name a file or folder ({RULE}); {remedy}")
    return name
