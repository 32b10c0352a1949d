# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are still being written."""

from __future__ import annotations

from pathlib import Path

from s80lab.base.follow import Follower, tail


def test_only_whole_lines_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = Follower(path)
    assert follower.lines() == []
    path.write_bytes(b"one\r\ntw")
    assert follower.lines() == ["one"]
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert follower.lines() == ["two", "three"]
    assert follower.lines() == []


def test_tail_gives_the_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n\n" for number in range(9)))
    assert tail(path, 2) == "\n  | line 7\n  | line 8"
    assert tail(tmp_path / "absent") == "\n  | (nothing)"
