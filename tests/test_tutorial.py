# SPDX-License-Identifier: GPL-2.0-or-later
"""Every page of the tutorial, and the example of the README, executed as they say. The examples of
docs/guides/compare.md, on runs with invented values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.commands.compared import add_boots
from tests.console import Command, examples, follow, run
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.experiment.plan import Options
from s80lab.results.run_folder import MISS_STACKS

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


GUIDE = paths.ROOT / "docs" / "guides" / "compare.md"
MISSES = {
    "imap;system_call;futex_wake;futex bucket": (412, 540),
    "imap;user;libc.so.6: malloc;heap": (380, 391),
    "kernel;tick;update_load_avg;task group": (95, 88),
}
"""For each stack the misses of a run: MOESI with 8 MiB, and MESI with 2 MiB."""


def test_guide_to_comparisons_prints_what_it_shows(made_runs: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with lab.entered():
        template = made_runs / "imape-1"
        first = add_boots(lab, template, Options())
        mesi = Options(protocol="mesi", settings={"l2.size": "2MiB"})
        second = add_boots(lab, template, mesi, turn=1, l2_mpki_all=0.12, miss_source_all_memory=0.05, e_share=0.03)
    for side, names in enumerate((first, second)):
        for boot, name in enumerate(names):
            stacks = "".join(
                f"{stack} {1000 * counts[side] + (3 + side) * 500 * boot}\n" for stack, counts in MISSES.items()
            )
            (lab.results / "runs" / name / MISS_STACKS).write_text(stacks)
    assert follow(GUIDE, tmp_path, lab.environment(), LIMIT_S) >= 2
