# SPDX-License-Identifier: GPL-2.0-or-later
"""What an mbox file of the mail store holds, read without any mail library."""

from __future__ import annotations

import re
from pathlib import Path

KEPT_BY_THE_SERVER = (b"X-IMAPbase:", b"X-UID:", b"Status:", b"X-Status:", b"X-Keywords:")
BEGIN = re.compile(rb"^From \S+ \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}.*\n", re.MULTILINE)


def messages(path: Path) -> list[tuple[bytes, bytes]]:
    """(header, body) of each, with CRLF, without the "From " line and what the server keeps in the header."""
    found = []
    for text in BEGIN.split(path.read_bytes())[1:]:
        header, body = text.removesuffix(b"\n").split(b"\n\n", 1)
        lines = [line for line in header.split(b"\n") if not line.startswith(KEPT_BY_THE_SERVER)]
        found.append((b"\r\n".join([*lines, b"", b""]), body.replace(b"\n", b"\r\n")))
    return found
