# SPDX-License-Identifier: GPL-2.0-or-later
"""A study's own tables beside our runs: whole, in its units, judged by the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from s80lab.analysis.groups import Group, Run
from s80lab.analysis.study import StudyFinding, study_findings
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import load, validate
from s80lab.config.experiment import load_experiment
from s80lab.config.grid import Grid
from s80lab.config.reproduce import load_figures
from s80lab.report.reproduce import study_tables
from s80lab.results import study
from s80lab.results.metrics.derive import find_metric
from s80lab.results.study import StudyAnswer, StudyAnswers, load_answers, load_statements

PARTS = tuple(f"throughput/{part}" for part in ("probes", "web", "streaming", "rtp", "router"))
STUDIES = ("clientscaler", "hyper-threading", "zvm", *PARTS)


def run(metrics: Mapping[str, float], varied: Mapping[str, Any] | None = None, *reasons: str, seed: int = 1) -> Run:
    standing = {"verdict": "invalid" if reasons else "valid", "reasons": list(reasons)}
    stats = {"metrics": metrics, "warmup": {"verdict": "steady"}, "standing": standing}
    manifest = {"run": f"s{seed}", "engine": "qemu", "inputs": {"ready": "b1"}, "varied": varied or {}, "seed": seed}
    return Run(manifest, stats, {})


def found(findings: list[StudyFinding], quantity: str, at: str = "") -> StudyFinding:
    (one,) = [one for one in findings if (one.statement.quantity, one.statement.at) == (quantity, at)]
    return one


@pytest.mark.parametrize("name", STUDIES)
def test_study_statements_have_answers_with_existing_metrics(name: str) -> None:
    answers = load_answers(name)
    experiment = load_experiment(answers.experiment, {})
    for statement in load_statements(name):
        for metric in answers.answer_to(statement).metrics:
            assert find_metric(metric).unit
    points = {
        ", ".join(f"{key}={value}" for key, value in point.items())
        for point in Grid.of_sweep(experiment.sweep).points()
    }
    named = {end for one in answers.answers.values() for end in (one.point, one.over) if end}
    assert named | set(answers.conditions.values()) <= points


@pytest.mark.parametrize("name", STUDIES)
def test_study_is_a_figure_of_reproduce(name: str) -> None:
    (figure,) = [figure for figure in load_figures(["studies"]) if figure.study == name]
    assert (figure.experiments[0], figure.whose) == (load_answers(name).experiment, "The study")


def test_study_parts_cover_all_claims_but_the_latency_model() -> None:
    """`s80lab model latency` has the rest: its equations and the table of peak throughputs."""
    with (paths.STUDIES / "throughput" / "claims.tsv").open() as file:
        stated = {line.split("\t")[0] for line in file} - {"id"}
    answered = [one.id for part in PARTS for one in load_statements(part)]
    assert len(answered) == len(set(answered))
    of_the_model = {"T001", "T002", "T004", "T005", *(f"T{number:03}" for number in range(10, 27))}
    assert stated - set(answered) == of_the_model


def test_unknown_place_in_a_study_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load(paths.STUDIES / "throughput" / "web.toml", StudyAnswers)
    monkeypatch.setattr(study, "load", lambda *_: whole.model_copy(update={"places": ("slide 99",)}))
    with pytest.raises(UserError, match=r"throughput/web.toml: the key `places` names slide 99"):
        load_statements("throughput/web")


def test_study_number_is_judged_in_the_unit_of_the_study() -> None:
    metrics = {"command_ms.p90.imap.noop": 80.0, "command_ms.p90.pop3.uidl": 855.0, "utilisation": 0.65}
    findings = study_findings("clientscaler", [Group("clientscaler", (run(metrics),))])
    assert found(findings, "90th percentile: IMAP noop").judgement.verdict == "agrees"  # the study's 77 ms
    differing = found(findings, "90th percentile: POP3 uidl")
    assert differing.judgement.verdict == "differs" and differing.text == "855"
    assert differing.reason.startswith("No database") and "tested with `s80lab run clientscaler" in differing.reason
    assert found(findings, "processor utilisation").text == "65"
    lacking = found(findings, "90th percentile: IMAP login")
    assert (lacking.ours, lacking.judgement.verdict) == (None, "not comparable")
    assert "completed no such operation" in lacking.reason
    assert found(findings, "processors").text == "22"


def test_study_response_is_the_sum_of_its_commands() -> None:
    answer = load_answers("clientscaler").answers["user response: SMTP @ 1 KB"]
    metrics = dict.fromkeys(answer.metrics, 10.0)
    whole = study_findings("clientscaler", [Group("clientscaler", (run(metrics),))])
    ours = found(whole, "user response: SMTP", "1 KB").ours
    assert ours is not None and ours.mean == pytest.approx(0.01 * len(metrics))
    metrics.popitem()
    without = study_findings("clientscaler", [Group("clientscaler", (run(metrics),))])
    assert found(without, "user response: SMTP", "1 KB").ours is None


def test_study_condition_is_a_point_of_the_sweep() -> None:
    groups = [
        Group(str(clients), (run({"request_rate.imap": rate}, {"clients": clients}),))
        for clients, rate in ((15, 57.0), (29, 98.0))
    ]
    findings = study_findings("zvm", groups)
    rate = "transactions a second (estimated)"
    assert found(findings, rate, "1500 users").judgement.verdict == "agrees"  # 57.38
    assert found(findings, rate, "2900 users").judgement.verdict == "differs"  # 182.58
    assert "has no run at this point" in found(findings, rate, "3000 users").reason
    table, rest = study_tables("zvm", groups)
    (row,) = [row for row in table.rows if row.label == rate]
    assert table.columns == ("1500 users", "2000 users", "2500 users", "2750 users", "2900 users", "3000 users", "unit")
    assert [cell.text for cell in row.cells[:2]] == ["57.38 = 57", "89.07 ·"]
    assert len(table.rows) + len([row for row in rest.rows if not row.head]) < len(load_statements("zvm"))


def test_study_answer_gives_the_excess_of_one_point_over_another() -> None:
    size = {"scale.document_bytes": 10240}
    groups = [
        Group(server, (run({"throughput": rate}, {"server": server, "clients": clients, **size}),))
        for server, clients, rate in (("apache-plain", 16, 2000.0), ("nginx", 4, 3200.0))
    ]
    more = found(
        study_findings("throughput/web", groups), "transactions a second of IIS over Apache's", "files of 10 KB"
    )
    assert (more.text, more.judgement.verdict) == ("60", "agrees")  # the study: 58% more


def test_study_answer_with_more_but_without_over_is_refused() -> None:
    with pytest.raises(UserError, match="more = true needs `over`"):
        validate({"metrics": ["throughput"], "more": True}, StudyAnswer, "x.toml")


def test_study_ratio_pairs_the_seeds_of_both_points() -> None:
    on, off = ({"machine": machine, "clients": 73} for machine in ("pe4600-ht", "pe4600"))
    queues = ((on, 1, 2.0), (on, 2, 3.0), (off, 1, 5.0), (off, 2, 6.0))
    runs = {id(at): tuple(run({"run_queue": q}, at, seed=s) for a, s, q in queues if a is at) for at in (on, off)}
    groups = [Group("on", runs[id(on)]), Group("off", runs[id(off)])]
    finding = found(study_findings("hyper-threading", groups), "processor queue length, on over off", "heavy")
    assert finding.ours is not None and finding.ours.mean == pytest.approx((2 / 5 + 3 / 6) / 2)
    assert finding.judgement.verdict == "agrees"  # the study: less than half
    alone = study_findings("hyper-threading", groups[:1])
    assert "has no run at this point" in found(alone, "processor queue length, on over off", "heavy").reason


def test_study_number_may_be_shown_without_verdict() -> None:
    point = {"server": "apache-plain", "clients": 16, "scale.document_bytes": 10240}
    group = Group("webstone", (run({"misses_m_per_s.l1": 36.0}, point),))
    finding = found(study_findings("throughput/web", [group]), "L1 misses", "Apache, files of 10 KB")
    assert (finding.text, finding.judgement.verdict) == ("36", "not comparable")  # the study's 424
    assert "over which time" in finding.reason


def test_invalid_run_is_not_judged_in_a_study() -> None:
    group = Group("clientscaler", (run({"command_ms.p90.imap.noop": 77.0}, None, "2.75 closed-loop cycles measured"),))
    finding = found(study_findings("clientscaler", [group]), "90th percentile: IMAP noop")
    assert finding.judgement.verdict == "not comparable"
    assert finding.reason == "Invalid run: 2.75 closed-loop cycles measured."


def test_study_quantity_without_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = load_statements("zvm")
    monkeypatch.setattr(
        study, "load_statements", lambda _: [*known, known[0].__class__("Z999", "", "new", "", 1, 1, "", "")]
    )
    with pytest.raises(UserError, match=r"zvm/answers.toml: the answers and claims.tsv do not match for new"):
        load_answers("zvm")
