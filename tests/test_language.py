# SPDX-License-Identifier: GPL-2.0-or-later
"""The language check of `make lint` (scripts/language.py): what it refuses and what it accepts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from s80lab.base import paths

SCRIPT = paths.ROOT / "scripts" / "language.py"


@pytest.fixture
def page() -> Iterator[Path]:
    """A page among the guides, where sentences are limited to 35 words."""
    file = paths.ROOT / "docs" / "guides" / ".planted.md"
    yield file
    file.unlink(missing_ok=True)


def refused(*files: Path) -> list[str]:
    names = [str(file.relative_to(paths.ROOT)) for file in files]
    done = subprocess.run([sys.executable, SCRIPT, *names], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == bool(done.stderr), done.stderr
    return done.stderr.splitlines()


def test_language_refuses_a_sentence_of_45_words(page: Path) -> None:
    page.write_text("# Title\n\nShort. " + "\n".join(["word"] * 45) + ".\n")
    (line,) = refused(page)
    assert line.startswith("docs/guides/.planted.md:3: a sentence of 45 words, 35 at most: word word")


def test_language_accepts_35_words_and_long_tables_and_code(page: Path) -> None:
    words = "a " * 34 + "word"
    page.write_text(f"{words}.\n\n| a |\n| --- |\n| {words} {words} |\n\n```\n{words} {words}\n```\n")
    assert refused(page) == []


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("The time is the modelled time.", "simulated time"),
        ("Three client cycles are needed.", "closed-loop cycle"),
        ("A replay is no live run.", "is not a"),
        ("The user is told where.", "who tells"),
    ],
)
def test_language_refuses_a_replaced_term(page: Path, text: str, advice: str) -> None:
    page.write_text(f"{text}\n")
    (line,) = refused(page)
    assert advice in line


def test_language_accepts_code_names_and_former_terms(page: Path) -> None:
    page.write_text("The key `modelled time` stays. Formerly *client cycle*. It is no longer used.\n")
    assert refused(page) == []


def test_language_refuses_a_long_line(page: Path) -> None:
    page.write_text("x" * 160 + "\n\n" + "x" * 159 + "\n")
    assert refused(page) == ["docs/guides/.planted.md:1: a line of 160 characters, below 160 is asked for"]
