# SPDX-License-Identifier: GPL-2.0-or-later
"""The web load against a real Apache, on the host: every byte of every reply is what it must be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.web_system import WebSystem, missing

from s80lab.config.workload import job_text, load_workload

CLIENTS = 24


@pytest.fixture
def web_system() -> Iterator[WebSystem]:
    if reason := missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="s80-web-") as name:
        system = WebSystem(Path(name))
        try:
            system.start()
            yield system
        finally:
            system.stop()


def run(system: WebSystem, folder: Path) -> Outcome:
    job = folder / "job"
    job.write_text(job_text("web", clients=CLIENTS, users=CLIENTS, seed=1, think_ms=100, warmup_s=0.5, measure_s=3))
    return collect(launch(job, *system.addresses))


def test_every_reply_is_whole(web_system: WebSystem, tmp_path: Path) -> None:
    outcome = run(web_system, tmp_path)
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0)
    assert not {"move", "lost_flags"} & set(result)
    types = result["transactions"]
    assert list(types) == ["FILE", "PAGE"]
    count = result["totals"]["count"]
    assert count > 100
    assert types["PAGE"]["count"] / count == pytest.approx(0.8, abs=0.1)
    assert types["PAGE"]["bytes_in"] / types["PAGE"]["count"] > 1000
    assert load_workload("web").transactions == tuple(types)


@pytest.mark.parametrize("harm", ["shorter", "changed", "missing"])
def test_a_wrong_file_is_an_error(harm: str, web_system: WebSystem, tmp_path: Path) -> None:
    for path in (web_system.store / "files").glob("*/c1_*"):
        content = path.read_bytes()
        if harm == "missing":
            path.unlink()
        else:
            path.write_bytes(content[:-1] if harm == "shorter" else content[:-2] + b"##")
    outcome = run(web_system, tmp_path)
    result = outcome.one("result")
    assert outcome.code == 1
    kind = "protocol" if harm == "missing" else "missing"
    said = {"shorter": "bytes and not", "changed": "is not what it must be", "missing": "404 Not Found"}
    assert result["errors"][kind] > 0
    assert result["errors"]["connection"] == 0
    assert said[harm] in result["first_error"] or "/page?" in result["first_error"]
    assert result["totals"]["count"] > 0, "the run goes on"
