# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers for files that another process is still writing."""

from __future__ import annotations

from pathlib import Path


class Follower:
    """A reader for the new complete lines of a growing text file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def lines(self) -> list[str]:
        """The lines that have been completed since the last call."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode("utf-8", "replace").splitlines()


def tail(path: Path, count: int = 12) -> str:
    """The last lines of a file, indented, for an error message; `(nothing)` if there are none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 64 * 1024))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        lines = []
    lines = [line.rstrip() for line in lines if line.strip()][-count:]
    return "".join(f"\n  | {line}" for line in lines) or "\n  | (nothing)"
