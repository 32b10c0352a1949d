# SPDX-License-Identifier: GPL-2.0-or-later
"""One page of each kind, made from the shared runs, for tests of pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.miss_log import details, named, small_log

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.groups import read_groups, read_run, read_runs
from s80lab.analysis.misses.run import Analysis, keep
from s80lab.analysis.misses.sharing import lines_of
from s80lab.analysis.profile import Profile, Sample
from s80lab.analysis.sweep import sweep_groups
from s80lab.base import paths
from s80lab.config.reproduce import load_figures
from s80lab.report import profile, step_page
from s80lab.report.comparison.page import write_comparison
from s80lab.report.misses import page as misses
from s80lab.report.reproduce import show_figure, write_page
from s80lab.report.sweep import write_sweep
from s80lab.report.write import write_experiment_report, write_run_report
from s80lab.results.run_folder import MEMORY_MAP, MISS_LOG, RunFolder
from s80lab.trace import source
from s80lab.trace import step as trace_step
from s80lab.trace.source import Wanted

Write = Callable[[Path, Path], str]
"""A function that makes a page and returns its text. Arguments: the folder of the shared runs, and a folder for the
page."""


def run_report(runs: Path, _: Path) -> str:
    return write_run_report(read_run(RunFolder(runs / "imape-1"))).read_text(encoding="utf-8")


def experiment_report(runs: Path, out: Path) -> str:
    return write_experiment_report("both", sorted(runs.glob("imap?-?")), out).read_text(encoding="utf-8")


def sweep(runs: Path, out: Path) -> str:
    folder = runs / "imape-1"
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("{", '{"varied": {"clients": "9"},', 1))
    return write_sweep("sweep", sweep_groups(read_runs([folder])), ("cpi.all",), out).read_text(encoding="utf-8")


def reproduction(runs: Path, out: Path) -> str:
    measured = {mix: [runs / f"{mix}-1"] for mix in ("imapb", "imape")}
    shown = [show_figure(figure, measured) for figure in load_figures(["figure8"])]
    return write_page(shown, out).read_text(encoding="utf-8")


def profile_page(runs: Path, _: Path) -> str:
    sample = Sample("imap", "session", "user", "imap: main", 1)
    with pytest.MonkeyPatch.context() as patch:
        samples = [sample, Sample("imap", "session", "idle", "f", 1)]
        patch.setattr(profile, "read_profile", lambda run: Profile(samples, {}))
        profile.write_profile(runs / "imape-1")
    return (runs / "imape-1" / "profile.html").read_text(encoding="utf-8")


def misses_page(runs: Path, _: Path) -> str:
    log = small_log()
    found = Analysis(log, named(log), lines_of(log), details(log), {})
    run = runs / "imape-1"
    for name in (MISS_LOG, MEMORY_MAP):
        (run / name).write_bytes(b"")
    store = keep(run, found)
    return misses.misses_page("imape-1", misses.tables_of(found, store), store)


def comparison(runs: Path, out: Path) -> str:
    """Two designs with one boot each."""
    for name, protocol in (("imape-1", "moesi"), ("imape-2", "mesi")):
        path = runs / name / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["protocol"] = manifest["design"]["protocol"] = protocol
        path.write_text(json.dumps(manifest | {"inputs": manifest["inputs"] | {"ready": name}}))
    sides = [replace(read_groups([runs / label])[0], label=label) for label in ("imape-1", "imape-2")]
    return write_comparison([Comparison(sides[0], sides[1])], out).read_text(encoding="utf-8")


def step(_: Path, __: Path) -> str:
    trace = next((paths.ROOT / "docs" / "traces").glob("*.trace"))
    return step_page.page(trace_step.lesson(source.load(trace, Wanted()), "x"))


REPORTS: dict[str, Write] = {
    "run": run_report,
    "experiment": experiment_report,
    "sweep": sweep,
    "reproduction": reproduction,
    "comparison": comparison,
    "profile": profile_page,
    "misses": misses_page,
}
"""Pages from the template of reports."""
KINDS: dict[str, Write] = {**REPORTS, "step": step}
"""All kinds of pages that need no capture. The page of an exploration is in tests/capture/explore."""
