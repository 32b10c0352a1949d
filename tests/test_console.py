# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of expected with printed output, by which the pages of the documentation are tested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.console import Command, File, difference, examples, follow

from s80lab.base import paths

PAGE = """\
Text.
```text as note.txt
one
two
```
```text in note.txt
- two
+ three
```
1. A list:
   ```console
   $ cat note.txt
   one
   three
   $ true
   ```
"""


def test_difference_accepts_equal_lines() -> None:
    assert difference(["a", "b"], ["a", "b"]) is None


def test_difference_names_a_line_that_is_missing_or_late() -> None:
    assert difference(["a", "c"], ["a", "b", "c"]) == "c"
    assert difference(["a", "...", "d"], ["a", "b", "c"]) == "d"


def test_difference_reports_output_beyond_the_expected_end() -> None:
    assert difference(["a"], ["a", "b"]) == "no line after 'a'"


def test_difference_ellipsis_stands_for_lines_and_for_text() -> None:
    assert difference(["...", "took ... s", "..."], ["x", "took 3.2 s", "y"]) is None


def test_examples_reads_files_edits_and_commands(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert list(examples(page)) == [
        File("note.txt", "one\ntwo\n", False),
        File("note.txt", "- two\n+ three\n", True),
        Command("cat note.txt", ["one", "three"]),
        Command("true", []),
    ]


def test_follow_runs_the_commands_in_the_folder(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert follow(page, tmp_path, {}, 60) == 2
    page.write_text(PAGE.replace("   three\n", "   four\n"))
    (tmp_path / "note.txt").unlink()
    with pytest.raises(AssertionError, match="expected: four"):
        follow(page, tmp_path, {}, 60)


def test_follow_rejects_command_that_fails_without_output_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ false\n```\n")
    with pytest.raises(AssertionError, match="exit code 1"):
        follow(page, tmp_path, {}, 60)


def test_main_follows_a_page_with_python_alone(tmp_path: Path) -> None:
    """Isolated mode without site-packages: scripts/first-minute has nothing but Debian's Python."""
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo a\na\n```\n")
    command = [sys.executable, "-S", "-m", "tests.console", str(page), str(tmp_path)]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "$ echo a\n")
    page.write_text("```console\n$ echo a\nb\n```\n")
    assert subprocess.run(command, cwd=paths.ROOT, capture_output=True).returncode == 1
