# SPDX-License-Identifier: GPL-2.0-or-later
"""What imaplib brings, with the tests' demands on it."""

from __future__ import annotations

import imaplib
from typing import Any


def ok(answer: tuple[str, list[Any]]) -> list[Any]:
    """What a command brought, which must have been a success."""
    assert answer[0] == "OK", answer
    return answer[1]


def literal(answer: tuple[str, list[Any]]) -> bytes:
    return bytes(ok(answer)[0][1])


def count(client: imaplib.IMAP4, mailbox: str) -> int:
    return int(ok(client.select(mailbox))[0])
