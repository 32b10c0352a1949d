# SPDX-License-Identifier: GPL-2.0-or-later
"""The paper's data: complete, agreeing with the profiles that drive the clients, answered by real metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.config.workload import Imap, expected_mix, load_workload
from s80lab.results import paper
from s80lab.results.metrics.derive import find_metric


def test_tables_are_complete() -> None:
    for mix in ("imapb", "imape"):
        assert sum(paper.table_1()[mix].values()) == pytest.approx(1)
        matrix = paper.table_2()[mix]
        assert list(matrix) == list(paper.table_1()[mix]) == list(Imap.WHAT)
        assert all(sum(row.values()) == pytest.approx(1) for row in matrix.values())


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_profile_agrees_with_tables_1_and_2_of_the_paper(mix: str) -> None:
    profile = load_workload(mix)
    assert isinstance(profile, Imap)
    for name in Imap.WHAT:
        assert profile.mix_percent[name] / 100 == pytest.approx(paper.table_1()[mix][name])
        row = profile.transitions[name]
        stated = [paper.table_2()[mix][name][to] for to in Imap.WHAT]
        assert [weight / sum(row) for weight in row] == pytest.approx(stated)


def test_imape_chain_has_far_more_moves_than_table_1() -> None:
    """As the paper's data are: 25.6% MOVE in the long run where Table 1 says 3%."""
    assert expected_mix(load_workload("imape"))["MOVE"] == pytest.approx(0.256, abs=0.001)
    assert paper.table_1()["imape"]["MOVE"] == 0.03


def test_claims_are_answered_by_metrics_of_a_run(run_dir: Path) -> None:
    metrics = json.loads((run_dir / "stats.json").read_text())["metrics"]
    answered = [claim for claim in paper.claims() if claim.metric]
    assert len(paper.claims()) == 30
    assert len(answered) == 20
    for claim in answered:
        assert claim.metric in metrics
        assert find_metric(claim.metric).description


@pytest.mark.parametrize(
    ("metric", "stated"),
    [
        ("miss_source.all.memory", "75 to 85%"),
        ("loadgen_share.machine", "at most 2%"),
        ("kernel_share.cycles", "15%"),
        ("cpi.base", "1"),
        ("throughput", ""),
    ],
)
def test_claims_read_as_stated(metric: str, stated: str) -> None:
    claim = paper.claim_on(metric, "imapb")
    assert claim is not None
    assert claim.stated == stated


def test_claims_about_other_workloads_are_not_ours() -> None:
    specmail = next(claim for claim in paper.claims() if claim.id == "C07")
    assert not specmail.about("imapb")
    assert specmail.about("pop3") and not specmail.about("web"), "what stands for another is spoken of with it"
    assert paper.claim_on("miss_source.all.memory", "specmail") is None
