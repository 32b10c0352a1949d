# SPDX-License-Identifier: GPL-2.0-or-later
"""Every page of the tutorial, and the example of the README, executed as they say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.console import Command, examples, follow, run
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths

TUTORIAL = paths.ROOT / "docs" / "tutorial"
PAGES = sorted(page.name for page in TUTORIAL.glob("[0-9]*.md"))
WITH_GUEST = [page for page in PAGES if page[0] in "456"]
PROGRAMS = sorted(f"programs/{page.name}" for page in (TUTORIAL / "programs").glob("[0-9]*.md"))


@pytest.mark.parametrize("name", [page for page in PAGES if page not in WITH_GUEST])
def test_tutorial_page_without_guest_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    assert follow(TUTORIAL / name, tmp_path, os.environ, LIMIT_S) >= 3


@pytest.mark.guest
@pytest.mark.parametrize("chapter", [WITH_GUEST, PROGRAMS], ids=["servers", "programs"])
def test_tutorial_pages_with_guest_print_what_they_show(chapter: list[str], whole: Lab, tmp_path: Path) -> None:
    """In their order: the later pages use the runs of the earlier ones."""
    beside = whole.beside(tmp_path)
    for name in chapter:
        assert follow(TUTORIAL / name, tmp_path, beside.environment(), LIMIT_S) >= 2


def test_tutorial_index_names_every_page() -> None:
    index = (TUTORIAL / "README.md").read_text(encoding="utf-8")
    assert PAGES[0].startswith("1-") and len(PROGRAMS) == 4
    assert [page for page in (*PAGES, *PROGRAMS) if f"]({page})" not in index] == []


def test_readme_lesson_prints_what_it_shows() -> None:
    (lesson,) = [example for example in examples(paths.ROOT / "README.md") if isinstance(example, Command)]
    run(lesson, paths.ROOT, os.environ, LIMIT_S)
