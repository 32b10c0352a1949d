# SPDX-License-Identifier: GPL-2.0-or-later
"""The Makefile's list of targets, and the targets that remove files, in a copy of the checkout's empty folders."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from s80lab.base import paths

LIMIT_S = 60
MEASURED = (
    "checkpoints/ready-a.json",
    "checkpoints/ready-a/ram.img",
    "checkpoints/.partial-b/ram.img",
    "captures/c/full.s80c",
    "results/runs/imapb-s1/stats.json",
    "results/s80lab.sqlite",
    "results/.s80lab.sqlite.lock",
)
SOURCES = ("checkpoints/README.md", "captures/README.md", "results/README.md", "results/reference/small.tar.xz")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with something built and something measured."""
    for name in ("Makefile", "scripts/distclean"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(paths.ROOT / name, tmp_path / name)
    for name in ("build/bin/s80-replay", *MEASURED, *SOURCES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x" * 10_000)
    return tmp_path


def make(checkout: Path, *arguments: str, answer: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run make without a terminal, or at a terminal on which `answer` is typed."""
    terminal, stdin = pty.openpty() if answer is not None else (None, os.open(os.devnull, os.O_RDONLY))
    if terminal is not None and answer is not None:
        os.write(terminal, f"{answer}\n".encode())
    environment = {name: value for name, value in os.environ.items() if name not in ("YES", "DRY_RUN", "MAKEFLAGS")}
    try:
        return subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=checkout,
            env=environment,
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    finally:
        os.close(stdin)
        if terminal is not None:
            os.close(terminal)


def existing(checkout: Path, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if (checkout / name).exists()]


def test_make_without_target_prints_each_target_on_one_line(checkout: Path) -> None:
    done = make(checkout)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "First steps" in lines and "Removal" in lines
    assert "  make clean         remove build/; keep checkpoints, captures and results" in lines
    listed = [line.split()[1] for line in lines if line.startswith("  make ")]
    (phony,) = re.findall(r"^\.PHONY: ((?:.|\\\n)+?)$(?<!\\)", (checkout / "Makefile").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(phony.replace("\\\n", "").split())
    assert max(map(len, lines)) < 80


def test_make_clean_keeps_checkpoints_captures_and_results(checkout: Path) -> None:
    assert make(checkout, "clean").returncode == 0
    assert not (checkout / "build").exists()
    assert existing(checkout, MEASURED) == list(MEASURED)


def test_make_distclean_without_terminal_removes_nothing_and_names_the_option(checkout: Path) -> None:
    done = make(checkout, "distclean")
    assert done.returncode != 0
    assert "distclean: nothing was removed: without a terminal, confirm with `make distclean YES=1`" in done.stderr
    assert existing(checkout, MEASURED) == list(MEASURED)


def test_make_distclean_dry_run_prints_sizes_and_removes_nothing(checkout: Path) -> None:
    done = make(checkout, "distclean", "DRY_RUN=1", "YES=1")
    assert done.returncode == 0
    named = [line.split("\t")[1] for line in done.stdout.splitlines() if "\t" in line]
    assert named == [
        "build",
        "captures/c",
        "checkpoints/.partial-b",
        "checkpoints/ready-a",
        "checkpoints/ready-a.json",
        "results/.s80lab.sqlite.lock",
        "results/runs",
        "results/s80lab.sqlite",
        "total",
    ]
    assert existing(checkout, MEASURED) == list(MEASURED)


@pytest.mark.parametrize("answer", ["n", "", "yeah"])
def test_make_distclean_on_terminal_without_yes_removes_nothing(checkout: Path, answer: str) -> None:
    done = make(checkout, "distclean", answer=answer)
    assert (done.returncode, done.stderr) == (0, "Remove all of them? [y/N] ")
    assert "would be removed:" in done.stdout
    assert done.stdout.endswith("distclean: nothing was removed\n")
    assert existing(checkout, MEASURED) == list(MEASURED)


@pytest.mark.parametrize(("arguments", "answer"), [(["YES=1"], None), ([], "y")])
def test_make_distclean_if_confirmed_keeps_only_the_sources(
    checkout: Path, arguments: list[str], answer: str | None
) -> None:
    assert make(checkout, "distclean", *arguments, answer=answer).returncode == 0
    assert existing(checkout, ("build", *MEASURED)) == []
    assert existing(checkout, SOURCES) == list(SOURCES)


def test_make_distclean_with_linked_checkpoint_keeps_the_target(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "ram.img").write_text("mine")
    (checkout / "checkpoints" / "linked").symlink_to(other)
    assert make(checkout, "distclean", "YES=1").returncode == 0
    assert not (checkout / "checkpoints" / "linked").is_symlink()
    assert (other / "ram.img").read_text() == "mine"
