# SPDX-License-Identifier: GPL-2.0-or-later
"""`make pages`: the pages in git are those that the present code makes from the data beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.capture.error import TABLE
from s80lab.commands.pages import write_report, write_uw_page
from s80lab.commands.reference import kept_runs
from s80lab.report.filter_error import write_markdown as write_filter_error
from s80lab.report.gem5_comparison import write_markdown as write_comparison

AGAIN = "run `make pages`"
COMPARISONS = sorted(paths.REFERENCE.glob("gem5/*/compare.json"))


def test_report_of_small_equals_regenerated_report(tmp_path: Path) -> None:
    page = write_report("small", tmp_path)
    kept = paths.REFERENCE / "small"
    assert page.read_bytes() == (kept / page.name).read_bytes(), AGAIN
    figures = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert figures == {path.name: path.read_bytes() for path in (kept / "figures").iterdir()}, AGAIN


def test_uw_page_equals_regenerated_page(tmp_path: Path) -> None:
    page = write_uw_page(tmp_path / "reproduce.html")
    assert page.read_bytes() == (paths.REFERENCE / "uw" / page.name).read_bytes(), AGAIN
    assert "unix_mbxline" in page.read_text(encoding="utf-8")


def test_filter_error_table_equals_regenerated_table(tmp_path: Path) -> None:
    copied = Path(shutil.copy(TABLE, tmp_path))
    write_filter_error(copied)
    assert copied.with_suffix(".md").read_bytes() == TABLE.with_suffix(".md").read_bytes(), AGAIN


@pytest.mark.parametrize("content", COMPARISONS, ids=lambda content: content.parent.name)
def test_gem5_comparison_equals_regenerated_comparison(content: Path, tmp_path: Path) -> None:
    shutil.copy(content, tmp_path)
    assert write_comparison(tmp_path).read_bytes() == content.with_name("compare.md").read_bytes(), AGAIN


def test_kept_runs_follow_points_of_sweep_then_seeds() -> None:
    servers = ("dovecot-index", "dovecot-maildir", "dovecot-maildir-index", "courier")
    manifests = [(folder / "manifest.json").read_text() for folder in kept_runs("servers")]
    order = [next(name for name in servers if f'"server": "{name}"' in text) for text in manifests]
    assert order == [name for name in servers for _ in range(3)]
    assert [folder.name.split("-")[2] for folder in kept_runs("servers")] == ["s1", "s2", "s3"] * len(servers)
