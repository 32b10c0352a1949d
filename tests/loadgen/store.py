# SPDX-License-Identifier: GPL-2.0-or-later
"""A small mail store: every user an INBOX and folders in mbox format."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

WORDS = ["budget", "contract", "delivery", "invoice", "meeting", "minutes", "project", "schedule"]


def message(rng: random.Random, number: int) -> str:
    """One message as it stands in an mbox file."""
    subject = " ".join(rng.choices(WORDS, k=3))
    lines = "".join(" ".join(rng.choices(WORDS, k=8)) + "\n" for _ in range(rng.choice([10, 20, 60])))
    return (
        "From sender@outside.example Mon Jan  1 00:00:00 2001\n"
        "From: Sender <sender@outside.example>\nTo: <user@s80.example>\n"
        f"Subject: {subject}\nDate: Mon, 1 Jan 2001 00:00:00 +0000\nMessage-ID: <{number}@outside.example>\n\n"
        f"{lines}\n"
    )


def build(root: Path, users: int, folders: int = 4, messages: int = 20) -> None:
    """INBOX and `folders` more for user001 ... under `root`, `messages` in each; the same in every call."""
    rng = random.Random(1)
    for user in range(1, users + 1):
        home = root / f"user{user:03}"
        (home / "mail").mkdir(parents=True)
        for path in [home / "inbox", *(home / "mail" / f"folder {i}" for i in range(1, folders + 1))]:
            path.write_text("".join(message(rng, i) for i in range(messages)))
        for path in [home, *home.rglob("*")]:
            shutil.chown(path, "nobody", "nogroup")
    root.chmod(0o755)
