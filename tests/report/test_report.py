# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports: intervals, verdicts before any number, marks of unsettled caches, self-contained pages."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from tests.simulation import write_run

from s80lab.analysis.groups import read_groups, read_run
from s80lab.analysis.interval import Estimate, estimate
from s80lab.analysis.sections import ENTRIES, SECTIONS
from s80lab.analysis.transactions import standard_error, types
from s80lab.base.errors import UserError
from s80lab.base.histogram import quantile
from s80lab.base.student import student_t
from s80lab.report.figures.registry import PICTURES
from s80lab.report.headline import beside_table, headline_table
from s80lab.report.tables import has_value, metrics_table
from s80lab.report.terminal import print_groups
from s80lab.report.validity import invalid_table, verdicts, verdicts_with_reasons
from s80lab.report.write import print_beside, write_experiment_report, write_pages, write_run_report
from s80lab.results.metrics.derive import find_metric, write_stats
from s80lab.results.metrics.standing import HEADLINE
from s80lab.results.run_folder import RunFolder

FIGURES = sorted(PICTURES)
SHIPPED = {
    "miss_source",
    "e_state",
    "warm_up",
    "cpi",
    "instruction_mix",
    "latency",
    "executed_mix",
    "busy",
    "utilisation",
    "l2_stalls",
}

DISKS = ("disk_", "iowait_")
# Of scripts, of the web, of streams and of probes.
OF_SOME_LOADS = ("request_", "body_mbit", "mail_", "stream_", "copy_mb", "token_ns")


@pytest.fixture
def folders(runs: Path) -> list[Path]:
    """Three seeds of each mix; imapb's seeds 1 and 2 had not settled, imape's all had."""
    return sorted(runs.glob("imap?-?"))


def printed(folders: list[Path]) -> str:
    text = io.StringIO()
    print_groups(read_groups(folders), Console(file=text, width=180))
    return text.getvalue()


def test_interval_of_three_seeds() -> None:
    found = estimate([1.0, 2.0, 3.0])
    assert found is not None
    assert (found.mean, found.n) == (2.0, 3)
    assert found.half_width == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_estimate_of_one_seed_has_no_interval_and_missing_value_no_mean() -> None:
    assert estimate([5.0]) == Estimate(5.0, None, 1)
    assert estimate([5.0, None]) is None
    assert Estimate(5.0, None, 1).overlaps(Estimate(5.0, 1.0, 3)) is None


def test_intervals_overlap_at_the_point_where_they_touch() -> None:
    first = Estimate(1.0, 0.5, 3)
    assert first.overlaps(Estimate(2.0, 0.5, 3)) is True
    assert first.overlaps(Estimate(2.01, 0.5, 3)) is False


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.706), (2, 4.303), (30, 2.042), (31, 2.0395), (120, 1.9799)])
def test_student_t_agrees_with_published_quantiles(degrees: int, t: float) -> None:
    assert student_t(degrees) == pytest.approx(t, abs=1e-3)


def test_quantiles_of_a_histogram() -> None:
    buckets = {10: 50, 20: 49, 40: 1}
    assert [quantile(buckets, share) for share in (0.5, 0.51, 0.99, 0.991)] == [10, 20, 20, 40]
    assert quantile({}, 0.5) == 0


def test_standard_error_of_a_histogram() -> None:
    assert standard_error({10: 2, 20: 2}) == pytest.approx((100 / 3 / 4) ** 0.5)
    assert standard_error({10: 1}) == 0


def test_runs_are_grouped_by_what_differs_besides_the_seed(folders: list[Path]) -> None:
    groups = read_groups(folders)
    assert [(group.label, len(group.runs), group.warm) for group in groups] == [
        ("imapb · tiny", 3, False),
        ("imape · tiny", 3, True),
    ]


def test_group_label_names_the_difference(folders: list[Path]) -> None:
    path = folders[1] / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "protocol": "mesi"}))
    assert [group.label for group in read_groups(folders)] == ["imapb · tiny", "imapb · tiny · mesi", "imape · tiny"]


def test_report_rows_are_declared_metrics_of_the_run(run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    rows = [entry.metric for section in SECTIONS for entry in section.entries]
    assert len(rows) == len(set(rows))
    # Loads and fetches together are gem5's, disks no run's with mail in memory, requests those of scripts, the queue of
    # mail a mail server's, and a thread alone waits for nobody. The machine has no LLC and no group caches. The
    # simulated run has no ordering edges and no instruction shorter than a nanosecond.
    others, parts = (*DISKS, *OF_SOME_LOADS), (".llc", ".group")
    missing = {name for name in rows if name not in metrics and not name.startswith(others)}
    missing = {name for name in missing if not any(part in name for part in parts)}
    absent = {"cpi.issue", "cpi.order", "guest_clock_speed"}
    assert missing == {*absent, *(f"miss_source.read.{source}" for source in ("memory", "M", "O", "E", "S"))}
    assert all(find_metric(name) for name in rows)


def test_cache_metrics_of_runs_before_steady_state_are_marked(folders: list[Path]) -> None:
    groups = read_groups(folders)
    entries = [entry for section in SECTIONS for entry in section.entries if has_value(entry, groups)]
    tables = [table for table in (metrics_table(section, groups) for section in SECTIONS) if table is not None]
    assert all(table.rows for table in tables), "what these runs have nothing of has no table"
    rows = [row for table in tables for row in table.rows if not row.head]
    assert len(rows) == len(entries)
    for entry, row in zip(entries, rows, strict=True):
        unsettled, settled = row.cells[:2]
        assert unsettled.text == "-" or unsettled.warm is not find_metric(entry.metric).of_caches
        assert settled.warm


def test_terminal_shows_both_mixes_beside_the_paper(folders: list[Path]) -> None:
    text = printed(folders)
    (line,) = re.findall(r"^C15 Misses serviced by memory .*$", text, re.MULTILINE)
    assert re.search(r"84\.0 ± 1\.5% +83\.\d ± 1\.\d% +75 to 85%", line)
    for words in (
        "Transactions, imapb",
        "silent E-to-M upgrades",
        "upgrades avoided by E",
        "Drift of the headline shares",
    ):
        assert words in text
    assert "Two numbers can differ significantly although their intervals overlap" in text
    assert "≈" not in text


def test_terminal_shows_single_seed_without_interval(run_dir: Path) -> None:
    text = printed([run_dir])
    assert "±" not in text[text.index("Sources of the L2") : text.index("\nPrecision of the headline\n")]
    assert "there are no intervals" in text


def test_executed_counts_stand_beside_the_expected(folders: list[Path]) -> None:
    imapb = read_groups(folders)[0]
    found = {one.name: one for one in types(imapb)}
    counted = [json.loads((folder / "transactions.json").read_text()) for folder in folders[:3]]
    assert found["VIEW"].count == sum(load["transactions"]["VIEW"]["count"] for load in counted)
    assert sum(one.share for one in found.values()) == pytest.approx(1)
    assert sum(one.expected or 0 for one in found.values()) == pytest.approx(1)
    assert found["SELT"].table_1 == 0.25


def test_transaction_type_not_executed_although_expected_is_named(folders: list[Path]) -> None:
    """CRTE is one in twenty of imape's chain; the made runs never did it."""
    assert "Not executed, although expected 5 times or more: CRTE." in " ".join(printed(folders).split())
    assert "Not executed" not in printed(folders[:3])


def test_run_page_is_self_contained_and_has_no_date(run_dir: Path) -> None:
    page = write_run_report(read_run(RunFolder(run_dir))).read_text()
    assert not re.search(r"(src|href)=[\"']?(https?:|/|file:)", page)
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", page)
    assert str(run_dir) not in page
    assert page.count("<figure") == len([*FIGURES, "machine"])


def test_shipped_figures_still_exist() -> None:
    assert set(FIGURES) >= SHIPPED


def test_figures_are_files_of_their_own(run_dir: Path) -> None:
    write_run_report(read_run(RunFolder(run_dir)))
    assert sorted(path.stem for path in (run_dir / "figures").iterdir()) == sorted([*FIGURES, "machine"])
    for path in (run_dir / "figures").iterdir():
        text = path.read_text()
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "prefers-color-scheme" in text
        assert "#010203" not in text


def test_page_of_warm_run_never_says_not_warm(folders: list[Path]) -> None:
    page = write_run_report(read_run(RunFolder(folders[-1]))).read_text()
    shown = page.split("</style>", 1)[1].split('<h2 id="inputs">')[0]
    assert "not steady" not in shown and "unsettled" not in shown and 'class="verdict"' not in shown


def test_report_page_has_equal_bytes_when_written_again(folders: list[Path], tmp_path: Path) -> None:
    first = write_experiment_report("both", folders, tmp_path / "a")
    second = write_experiment_report("both", folders, tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    for name in FIGURES:
        figure = Path("figures") / f"{name}.svg"
        assert (tmp_path / "a" / figure).read_bytes() == (tmp_path / "b" / figure).read_bytes()


def test_run_with_short_warm_up_is_reported_as_invalid(tmp_path: Path) -> None:
    run = write_run(tmp_path / "short", warm=False)
    write_stats(RunFolder(run))
    assert "too few sampling intervals" in printed([run])
    page = write_run_report(read_run(RunFolder(run))).read_text()
    assert "<strong>imapb · tiny: invalid.</strong> 1 of 1 run." in page
    assert ">steady state: too few sampling intervals to judge the drift<" in page
    assert page.count('class="unsettled"') > 50


def test_report_without_runs_or_of_incomplete_run_is_refused(run_dir: Path) -> None:
    with pytest.raises(UserError, match="there are no runs for the report; run an experiment first"):
        print_groups(read_groups([]), Console())
    (run_dir / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"manifest\.json: cannot be read"):
        write_run_report(read_run(RunFolder(run_dir)))


def test_verdict_is_printed_once_before_any_number(folders: list[Path]) -> None:
    text = " ".join(printed(folders).split())
    assert text.startswith("imapb · tiny: invalid.")
    assert text.count("steady state: ") >= 3  # each seed has its own conditions
    assert "imape · tiny: invalid" not in text


def test_headline_precedes_the_transaction_mix(folders: list[Path]) -> None:
    page = write_run_report(read_run(RunFolder(folders[-1]))).read_text().split("</style>", 1)[1]
    for shown, last in ((printed(folders), "Transactions, imapb"), (page, '<h2 id="transactions">')):
        places = [shown.index(title) for title in ("Headline", "Sources of the L2 misses", last)]
        assert places == sorted(places)


def exclude(run_dir: Path, reason: str) -> None:
    path = run_dir / "stats.json"
    stats = json.loads(path.read_text())
    stats["standing"] = {"verdict": "invalid", "reasons": [reason]}
    path.write_text(json.dumps(stats))


def test_invalid_seed_is_named_and_left_out_of_the_means(folders: list[Path]) -> None:
    imape = folders[3:]
    before = read_groups(imape)[0].estimate("e_share")
    exclude(imape[1], "1.8 closed-loop cycles per client measured, 3 are needed")
    (group,) = read_groups(imape)
    after = group.estimate("e_share")
    assert before is not None and after is not None and (before.n, after.n) == (3, 2)
    values = [json.loads((run / "stats.json").read_text())["metrics"]["e_share"] for run in (imape[0], imape[2])]
    assert after.mean == pytest.approx(sum(values) / 2)
    (said,) = verdicts([group])
    assert said == ("imape · tiny: 2 of 3 runs are valid.", "The other runs are left out of every mean.")
    table = invalid_table([group])
    assert table is not None
    assert [(row.label, row.cells[0].text) for row in table.rows] == [
        ("1.8 closed-loop cycles per client measured, 3 are needed", "seed 12")
    ]


def test_group_with_only_invalid_seeds_shows_all_as_invalid(folders: list[Path]) -> None:
    imape = folders[3:]
    for run in imape:
        exclude(run, "response-time law violated by +7.0% (limit 5.0%)")
    (group,) = read_groups(imape)
    assert len(group.runs) == 3
    assert verdicts([group]) == [("imape · tiny: invalid.", "3 of 3 runs.")]
    assert verdicts_with_reasons([group]) == [
        (
            "imape · tiny: invalid.",
            "3 of 3 runs. Seeds 11, 12, 13: response-time law violated by +7.0% (limit 5.0%).",
        ),
    ]


def test_headline_table_has_both_intervals_and_the_correlation(folders: list[Path]) -> None:
    table = headline_table(read_groups(folders))
    beside = ("within one run", "lag-1 correlation")
    assert table.columns[:6] == ("imapb · tiny", *beside, "imape · tiny", *beside)
    assert [entry.metric for entry in ENTRIES] == list(HEADLINE)
    batches = [json.loads((run / "stats.json").read_text())["batches"]["e_share"] for run in folders[3:]]
    row = table.rows[HEADLINE.index("e_share")]
    width = sum(batch["half_width"] for batch in batches) / 3
    assert row.cells[4].text == f"± {100 * width:.1f}%"
    assert row.cells[5].text == f"{sum(batch['lag_1'] for batch in batches) / 3:.2f}"


def test_two_estimates_beside_each_other(folders: list[Path], runs: Path) -> None:
    """Of other seeds: held where the first's interval holds the second's mean. The same runs hold themselves."""
    (group,) = read_groups(folders[3:])
    assert "in 10 of 10 rows" in beside_table(group, group).note
    far = replace(group, runs=tuple(replace(run, stats=shifted(run.stats)) for run in group.runs))
    assert "in 9 of 10 rows" in beside_table(group, far).note
    with pytest.raises(UserError, match=r"the runs are of different designs \(imapb · tiny, imape · tiny\)"):
        print_beside(folders[:3], folders[3:], Console())


def shifted(stats: Mapping[str, Any]) -> dict[str, Any]:
    metrics = stats["metrics"]
    return {**stats, "metrics": metrics | {"e_share": metrics["e_share"] + 0.5}}


def test_write_pages_without_page_writes_it_and_keeps_a_written_page(runs: Path) -> None:
    page = runs / "imapb-1" / "report.html"
    assert write_pages(RunFolder(runs / "imapb-1")).folder == runs / "imapb-1"
    assert page.read_text().startswith("<!DOCTYPE html>")
    page.write_text("kept")
    write_pages(RunFolder(runs / "imapb-1"))
    assert page.read_text() == "kept"
    assert not (runs / "imapb-1" / "misses.html").exists()
