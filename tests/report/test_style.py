# SPDX-License-Identifier: GPL-2.0-or-later
"""The style sheet of every generated page: browsers read it as it is in style.css, so it must not be HTML-escaped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.kinds import REPORTS, Write, step

from s80lab.report.page import TEMPLATES, prose
from s80lab.results.reference import unpacked

STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


@pytest.mark.parametrize("write", REPORTS.values(), ids=REPORTS)
def test_report_page_has_style_sheet_verbatim(write: Write, runs: Path, tmp_path: Path) -> None:
    styles = STYLE.findall(write(runs, tmp_path / "page"))
    assert styles[0].strip() == (TEMPLATES / "style.css").read_text(encoding="utf-8").strip()
    assert "&" not in "".join(styles)


def test_step_page_style_has_no_escaped_characters() -> None:
    (style,) = STYLE.findall(step(Path(), Path()))
    assert "&" not in style and '"Helvetica Neue"' in style


def test_style_of_kept_pages_has_no_escaped_characters() -> None:
    for page in unpacked("paper").glob("*/report.html"):
        styles = STYLE.findall(page.read_text(encoding="utf-8"))
        assert styles and "&" not in "".join(styles), page


def test_prose_turns_backticks_into_code_and_escapes_the_rest() -> None:
    assert prose("run `a < b` & see") == "run <code>a &lt; b</code> &amp; see"
