# SPDX-License-Identifier: GPL-2.0-or-later
"""Every claim of the paper has a row with the database's numbers, a computed verdict and a reason where we differ."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from rich.console import Console
from tests.lab import Lab

from s80lab.analysis.claims.judge import Answer, Finding, answers, findings
from s80lab.analysis.groups import read_groups, read_run
from s80lab.commands.claims import PAGE, reference_groups
from s80lab.report.claims import TITLE, claims_page, claims_table, detail
from s80lab.report.page import prose
from s80lab.report.terminal import print_table
from s80lab.report.write import write_run_report
from s80lab.results import paper
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder

IDS = [f"C{number:02d}" for number in range(1, 31)]


@pytest.fixture
def folders(runs: Path) -> list[Path]:
    return sorted(runs.glob("imap?-?"))


def by_id(folders: list[Path]) -> dict[str, Finding]:
    return {finding.claim.id: finding for finding in findings(read_groups(folders))}


def edit(folder: Path, name: str, change: dict[str, Any]) -> None:
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


def of_workload(folder: Path, name: str) -> None:
    """Say that the run was one of this workload, whose driver is `independent`."""
    edit(folder, "manifest.json", {"workload": name})
    edit(folder, "transactions.json", {"driver": "independent"})


def made_results(folders: list[Path], metrics: dict[str, float], absent: str = "") -> None:
    """Results of settled caches, and these numbers in the place of the made ones; without the metric `absent`."""
    for place, folder in enumerate(folders):
        stats = json.loads((folder / "stats.json").read_text())
        stats["warmup"]["verdict"] = "steady"
        stats["standing"] = {"verdict": "valid", "reasons": []}
        # A little apart, so that there is an interval.
        stats["metrics"].update({name: value * (1 + 1e-4 * (place % 3)) for name, value in metrics.items()})
        stats["metrics"].pop(absent, None)
        (folder / "stats.json").write_text(json.dumps(stats))


def metric_of(claim: str) -> str:
    """What a claim is judged by where all is known."""
    return answers()[claim].population


def test_claims_have_one_row_in_order(folders: list[Path]) -> None:
    table = claims_table(read_groups(folders))
    assert [row.label[:3] for row in table.rows] == IDS
    assert [claim.id for claim in paper.claims()] == IDS
    assert table.columns == ("imapb · tiny", "imape · tiny", "paper", "verdict")
    assert all(row.cells[2].text and row.cells[3].text for row in table.rows)


@pytest.mark.parametrize("claim", IDS)
def test_answers_have_a_text_for_disagreement(claim: str) -> None:
    """Whatever the numbers will be, there is a text for each verdict that is no agreement."""
    answer = answers()[claim]
    if answer.rule == "none":
        assert answer.because
    elif answer.rule == "band" and not answer.differs:
        stated = next(one for one in paper.claims() if one.id == claim)
        low, high = (
            (answer.low, answer.high) if (answer.low, answer.high) != (None, None) else (stated.low, stated.high)
        )
        assert bool(answer.below) == (low is not None)
        assert bool(answer.above) == (high is not None)
    else:
        assert answer.differs
    assert not (answer.needs.clients or answer.needs.think_ms) or answer.because


@pytest.mark.parametrize("claim", IDS)
def test_metrics_beside_an_answer_exist_in_stats(claim: str, run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    assert {*answers()[claim].beside.values(), *answers()[claim].alike} <= metrics.keys()


def test_claim_numbers_equal_database_means(folders: list[Path], tmp_path: Path) -> None:
    database = tmp_path / "s80lab.sqlite"
    for folder in folders:
        insert_run(database, RunFolder(folder))
    groups = read_groups(folders)
    compared = 0
    for finding in findings(groups):
        for group, numbers in zip(groups, finding.numbers, strict=True):
            for name, estimate in numbers.items():
                sql = "SELECT value FROM metric JOIN run ON run.id = metric.run WHERE workload = '{}' AND name = '{}'"
                _, rows, *_ = select(database, sql.format(group.workload, name))
                if estimate is None:
                    assert not finding.claim.about(group.workload)
                    continue
                assert estimate.mean == pytest.approx(fmean(value for (value,) in rows))
                assert estimate.n == len(rows) == 3
                compared += 1
    assert compared > 50


def test_verdicts_follow_the_numbers(folders: list[Path]) -> None:
    made_results(folders, {metric_of("C15"): 0.8, metric_of("C12"): 0.05, metric_of("C14"): 1.2})
    found = by_id(folders)
    assert found["C15"].verdict == "agrees"
    assert found["C12"].verdict == "differs"
    assert found["C14"].verdict == "agrees"
    made_results(folders[:3], {metric_of("C15"): 0.3})
    finding = by_id(folders)["C15"]
    assert finding.verdict == "differs"
    assert finding.verdict_text == "imapb · tiny differs, imape · tiny agrees"
    assert answers()["C15"].below in finding.reasons


def test_claim_is_judged_by_the_population_of_the_paper_if_known(folders: list[Path]) -> None:
    made_results(folders, {"kernel_share.cycles": 0.3}, absent=metric_of("C01"))
    assert by_id(folders)["C01"].metric == "kernel_share.cycles"
    assert by_id(folders)["C01"].verdict == "differs"
    made_results(folders, {metric_of("C01"): 0.15})
    finding = by_id(folders)["C01"]
    assert (finding.metric, finding.verdict) == (metric_of("C01"), "agrees")
    assert "For the whole machine, not only the sessions: 30.0" in detail(finding)


def test_differing_claim_has_reasons_and_tells_if_tested(folders: list[Path]) -> None:
    made_results(folders, {metric_of("C12"): 0.05, metric_of("C01"): 0.4})
    for finding in by_id(folders).values():
        if finding.verdict == "differs":
            assert finding.reasons
            assert ("tested with `" in detail(finding)) != ("not tested" in detail(finding))


def test_invalid_run_is_not_comparable(folders: list[Path]) -> None:
    """imapb's had not settled; what does not depend on them is judged all the same."""
    found = by_id(folders)
    assert found["C15"].judgements[0].verdict == "not comparable"
    assert "imapb · tiny: invalid run: not in steady state" in detail(found["C15"])
    assert found["C23"].judgements[0].verdict == "differs"


def test_utilisation_is_judged_at_the_papers_operating_point_only(folders: list[Path]) -> None:
    made_results(folders, {"utilisation": 0.95})
    assert by_id(folders)["C02"].verdict == "not comparable"
    for folder in folders:
        edit(folder, "transactions.json", {"clients": 200, "think_ms": 4000})
    assert by_id(folders)["C02"].verdict == "agrees"


def test_throughputs_are_compared_at_one_think_time_only(folders: list[Path]) -> None:
    made_results(folders[:3], {"throughput": 100})
    made_results(folders[3:], {"throughput": 120})
    for folder in folders:
        edit(folder, "transactions.json", {"think_ms": 850 if "imapb" in folder.name else 1050})
    assert by_id(folders)["C27"].verdict == "not comparable"
    assert "different think times: imapb 850 ms and imape 1050 ms" in detail(by_id(folders)["C27"])
    for folder in folders:
        edit(folder, "transactions.json", {"think_ms": 0})
    assert by_id(folders)["C27"].verdict == "agrees"


def test_claims_of_one_mix_have_all_rows_and_no_joint_verdict(folders: list[Path]) -> None:
    found = by_id(folders[3:])
    assert sorted(found) == IDS
    assert {found[claim].verdict for claim in ("C27", "C30")} == {"not comparable"}


def test_ranking_shows_the_number_of_transactions(folders: list[Path]) -> None:
    row = next(row for row in claims_table(read_groups(folders)).rows if row.label.startswith("C28"))
    assert all(
        re.fullmatch(r"\w{4} [\d,]+ ms \(mean of \d+\), \w{4} [\d,]+ ms \(mean of \d+\)", cell.text)
        for cell in row.cells[:2]
    )


def test_terminal_and_json_show_equal_claims(folders: list[Path]) -> None:
    text = io.StringIO()
    print_table(claims_table(read_groups(folders)), Console(file=text, width=200), details=True)
    records = [finding.record() for finding in findings(read_groups(folders))]
    assert json.loads(json.dumps(records)) == records
    for record in records:
        assert record["id"] in text.getvalue()
        assert set(record["groups"]) == {"imapb · tiny", "imape · tiny"}
    assert REGISTRY["e_share"].name in records[17]["groups"]["imapb · tiny"]["metrics"]


def test_run_report_has_all_claims_with_reasons(run_dir: Path) -> None:
    page = write_run_report(read_run(RunFolder(run_dir))).read_text()
    section = page.split(f'<h2 id="claims">{TITLE}</h2>')[1].split("<h2")[0]
    assert re.findall(r'<th scope="row">(C\d\d)', section) == IDS
    for claim in ("C04", "C27", "C29"):
        assert prose(answers()[claim].because) in section


def test_claims_command_uses_the_latest_runs(folders: list[Path], tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    for folder in folders:
        copy = shutil.copytree(folder, lab.results / "runs" / folder.name)
        insert_run(lab.results / "s80lab.sqlite", RunFolder(copy))
    records = json.loads(lab.call("claims", "--scale", "tiny", "--json"))
    assert records == [finding.record() for finding in findings(read_groups(folders))]
    text = lab.call("claims", "imape", "--scale", "tiny")
    assert TITLE in text
    assert "imapb" not in text.splitlines()[1]


def test_claims_page_is_that_of_the_reference_results() -> None:
    assert PAGE.read_text() == claims_page(reference_groups()), "run `s80lab claims --reference`"


def test_unknown_keys_of_an_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="becuase"):
        Answer.model_validate({"rule": "none", "becuase": "x"})


def test_stand_in_workload_is_judged_by_its_own_and_general_claims(folders: list[Path]) -> None:
    of_workload(folders[0], "web")
    made_results(folders[:1], {})
    found = by_id(folders[:1])
    other = "the claim is about neither this workload nor the licensed workload for which this workload is a stand-in"
    for claim in ("C01", "C15", "C16", "C23", "C28"):
        assert found[claim].judgements[0].note == other
        assert {*found[claim].numbers[0].values()} <= {None}
    for claim in ("C03", "C18", "C21", "C22"):
        assert found[claim].judgements[0].note != other
        assert found[claim].numbers[0][found[claim].metric] is not None


def test_substitute_workload_is_judged_by_claims_about_the_original(folders: list[Path]) -> None:
    """SPECmail has at most 15% of its misses from memory, and 5% are stores that another cache services in M; of
    others that is said to be almost absent, and the rest is not said."""
    shares = {"miss_source.all.memory": 0.12, "store_from_m_share.all": 0.05, "session.store_from_m_share.all": 0.05}
    made_results(folders, shares)
    for folder in folders[:3]:
        of_workload(folder, "pop3")
    found = by_id(folders)
    verdicts = {claim: [one.verdict for one in found[claim].judgements] for claim in ("C07", "C16", "C17")}
    mail = [group.workload for group in read_groups(folders)].index("pop3")
    assert verdicts["C16"][mail] == verdicts["C17"][mail] == "agrees"
    assert verdicts["C16"][1 - mail] == verdicts["C07"][1 - mail] == "not comparable"
    assert verdicts["C17"][1 - mail] == "differs"
    assert found["C07"].numbers[1 - mail]["kernel_share.cycles"] is None
    assert "SPECmail2001 needs a licence" in " ".join(found["C16"].reasons)


def test_lowest_claim_needs_runs_of_all_workloads(folders: list[Path]) -> None:
    for folder, mix in zip(folders[1:4], ("pop3", "web", "jbb"), strict=True):
        of_workload(folder, mix)
        edit(folder, "manifest.json", {"experiment": mix})
    made_results(folders[:1], {"e_to_m_share": 0.2})
    made_results(folders[1:4], {"e_to_m_share": 0.3})
    found = by_id(folders)["C20"]
    judged = {label.partition(" ")[0]: one for label, one in zip(found.labels, found.judgements, strict=True)}
    assert (judged["imapb"].verdict, judged["imapb"].note) == (
        "agrees",
        "the value is lower than that of pop3, web, jbb",
    )
    assert judged["web"].verdict == "not comparable"
    made_results(folders[1:2], {"e_to_m_share": 0.1})
    assert by_id(folders)["C20"].verdict == "differs"
    few = by_id([folders[0], *folders[2:]])["C20"]
    assert "s80lab reproduce workloads" in detail(few) and few.verdict == "not comparable"
