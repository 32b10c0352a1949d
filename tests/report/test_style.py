# SPDX-License-Identifier: GPL-2.0-or-later
"""The style sheet of every generated page: browsers read it as it is in style.css, so it must not be HTML-escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from s80lab.analysis.profile import Profile, Sample
from s80lab.analysis.sweep import sweep_groups
from s80lab.base import paths
from s80lab.config.reproduce import load_figures
from s80lab.report import profile, step_page
from s80lab.report.misses import page as misses
from s80lab.report.page import TEMPLATES, prose
from s80lab.report.reproduce import show_figure, write_page
from s80lab.report.sweep import write_sweep
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.write import write_experiment_report, write_run_report
from s80lab.trace import source
from s80lab.trace import step as trace_step
from s80lab.trace.source import Wanted

STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


def _run_report(runs: Path, _: Path) -> str:
    return write_run_report(runs / "imape-1").read_text(encoding="utf-8")


def _experiment_report(runs: Path, out: Path) -> str:
    return write_experiment_report("both", sorted(runs.glob("imap?-?")), out).read_text(encoding="utf-8")


def _sweep(runs: Path, out: Path) -> str:
    folder = runs / "imape-1"
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("{", '{"varied": {"clients": "9"},', 1))
    return write_sweep("sweep", sweep_groups([folder]), ("cpi.all",), out).read_text(encoding="utf-8")


def _reproduction(runs: Path, out: Path) -> str:
    measured = {mix: [runs / f"{mix}-1"] for mix in ("imapb", "imape")}
    shown = [show_figure(figure, measured) for figure in load_figures(["figure8"])]
    return write_page(shown, out).read_text(encoding="utf-8")


def _profile(runs: Path, _: Path) -> str:
    sample = Sample("imap", "session", "user", "imap: main", 1)
    with pytest.MonkeyPatch.context() as patch:
        samples = [sample, Sample("imap", "session", "idle", "f", 1)]
        patch.setattr(profile, "read_profile", lambda run: Profile(samples, {}))
        profile.write_profile(runs / "imape-1")
    return (runs / "imape-1" / "profile.html").read_text(encoding="utf-8")


def _misses(runs: Path, _: Path) -> str:
    table = Table("By function", ("misses",), [Row("main", (Cell("1"),))])
    log = SimpleNamespace(misses=np.zeros(0), records={"stall": np.zeros(0)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(misses, "analyse", lambda run: SimpleNamespace(lines=None, log=log, named=None))
        patch.setattr(misses, "all_tables", lambda log, named, lines: [table])
        patch.setattr(misses, "collapsed", lambda log, named, weights: "")
        misses.write_misses(runs / "imape-1")
    return (runs / "imape-1" / "misses.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("write", [_run_report, _experiment_report, _sweep, _reproduction, _profile, _misses])
def test_report_page_has_style_sheet_verbatim(write: Callable[[Path, Path], str], runs: Path, tmp_path: Path) -> None:
    styles = STYLE.findall(write(runs, tmp_path / "page"))
    assert styles[0].strip() == (TEMPLATES / "style.css").read_text(encoding="utf-8").strip()
    assert "&" not in "".join(styles)


def test_step_page_style_has_no_escaped_characters() -> None:
    trace = next((paths.ROOT / "docs" / "traces").glob("*.trace"))
    (style,) = STYLE.findall(step_page.page(trace_step.lesson(source.load(trace, Wanted()), "x")))
    assert "&" not in style and '"Helvetica Neue"' in style


@pytest.mark.parametrize("page", sorted(paths.REFERENCE.rglob("*.html")), ids=lambda page: str(page.parent.name))
def test_reference_page_style_has_no_escaped_characters(page: Path) -> None:
    styles = STYLE.findall(page.read_text(encoding="utf-8"))
    assert styles and "&" not in "".join(styles)


def test_prose_turns_backticks_into_code_and_escapes_the_rest() -> None:
    assert prose("run `a < b` & see") == "run <code>a &lt; b</code> &amp; see"
