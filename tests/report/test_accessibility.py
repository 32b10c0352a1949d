# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages for readers who do not see them: structure, text alternatives, contrast, keyboard. The style sheet of every
page, as browsers read it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.audit import contrast, contrast_faults, faults
from tests.report.kinds import KINDS, REPORTS, Write, step

from s80lab.report.page import TEMPLATES, prose
from s80lab.results.reference import unpacked

SOUND = (
    '<html lang="en"><title>t</title><style>:root { --ink: #000; --paper: #fff; }</style><main><h1>a</h1>'
    '<a href="#b"></a><h2 id="b">b</h2>{}</main></html>'
)


@pytest.mark.parametrize("write", KINDS.values(), ids=KINDS)
def test_page_of_each_kind_has_no_fault(write: Write, runs: Path, tmp_path: Path) -> None:
    assert faults(write(runs, tmp_path / "page")) == []


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("<svg></svg>", "a figure has no text alternative"),
        ("<h4>c</h4>", "a heading of level 4 follows one of level 2"),
        (
            "<div tabindex='0'><table><th>a</th></table></div>",
            "a table heading does not state what it is the heading of",
        ),
        ("<table></table>", "a table that may scroll cannot be reached with the keyboard"),
        ("<a href='#c'>c</a>", "a link to #c has no target"),
        ("<p id='b'></p>", "2 elements have the id b"),
        ("<h1>c</h1>", "the page does not begin with one heading of the first level"),
    ],
)
def test_audit_names_a_fault(part: str, fault: str) -> None:
    assert faults(SOUND.replace("{}", "")) == []
    assert faults(SOUND.replace("{}", part)) == [fault]


def test_contrast_of_colours() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast_faults(":root { --ink: #777; --paper: #fff; }") == ["--ink on --paper: contrast 4.48"]


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
