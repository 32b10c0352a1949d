# SPDX-License-Identifier: GPL-2.0-or-later
"""The web load against a real Apache, on the host: every byte of every reply is what it must be. The web server's
store, and the program that makes pages of it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.web_system import PAGE, WEBSTORE, WebSystem, missing

from s80lab.config.workload import job_text, load_workload

CLIENTS = 24
DOCUMENT = 10_240


@pytest.fixture
def web_system() -> Iterator[WebSystem]:
    with started() as system:
        yield system


@pytest.fixture
def plain_system() -> Iterator[WebSystem]:
    """Without TLS, and with files of one size."""
    with started(kind="apache-plain", document_bytes=DOCUMENT) as system:
        yield system


@contextmanager
def started(**how: Any) -> Iterator[WebSystem]:
    """A running server, ended afterwards; the test is skipped where there can be none."""
    if reason := missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="s80-web-") as name:
        system = WebSystem(Path(name), **how)
        try:
            system.start()
            yield system
        finally:
            system.stop()


def run(system: WebSystem, folder: Path, workload: str = "web") -> Outcome:
    job = folder / "job"
    job.write_text(job_text(workload, clients=CLIENTS, users=CLIENTS, seed=1, think_ms=100, warmup_s=0.5, measure_s=3))
    return collect(launch(job, *system.addresses))


@pytest.mark.parametrize("kind", ["apache", "apache-lua"])
def test_web_replies_are_whole(kind: str, tmp_path: Path) -> None:
    with started(kind=kind) as system:
        outcome = run(system, tmp_path)
        result = outcome.one("result")
        assert (result["first_error"], outcome.code) == ("", 0), system.said()
    assert not {"move", "lost_flags"} & set(result)
    types = result["transactions"]
    assert list(types) == ["FILE", "PAGE"]
    count = result["totals"]["count"]
    assert count > 100
    assert types["PAGE"]["count"] / count == pytest.approx(0.8, abs=0.1)
    assert types["PAGE"]["bytes_in"] > types["PAGE"]["body_bytes"] > 1000 * types["PAGE"]["count"]
    assert load_workload("web").transactions == tuple(types)


def test_plain_web_requests_use_one_connection_per_request(plain_system: WebSystem, tmp_path: Path) -> None:
    outcome = run(plain_system, tmp_path, "webstone")
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0), plain_system.said()
    files, pages = result["transactions"]["FILE"], result["transactions"]["PAGE"]
    assert files["count"] > 100 and pages["count"] == 0
    assert files["body_bytes"] == DOCUMENT * files["count"]
    header = (files["bytes_in"] - files["body_bytes"]) / files["count"]
    assert 100 < header < 400
    host = f"127.0.0.1:{plain_system.port}"
    request = f"GET /files/d0000/c0_1 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert files["bytes_out"] == len(request) * files["count"]


def test_plain_client_of_a_tls_server_is_an_error(web_system: WebSystem, tmp_path: Path) -> None:
    outcome = run(web_system, tmp_path, "webstone")
    assert outcome.code == 1
    assert "/size" in outcome.one("error")["message"]


@pytest.mark.parametrize("harm", ["shorter", "changed", "missing"])
def test_wrong_web_file_is_an_error(harm: str, web_system: WebSystem, tmp_path: Path) -> None:
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


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("web") / "store"
    subprocess.run([WEBSTORE, "--root", root, "--directories", "2", "--users", "3"], check=True)
    return root


def page(store: Path, query: str) -> bytes:
    environment = os.environ | {"QUERY_STRING": query, "S80_WEBSTORE": str(store)}
    return subprocess.run([PAGE], env=environment, check=True, capture_output=True).stdout


def test_web_directory_has_nine_files_of_each_class(store: Path) -> None:
    for size_class, smallest in enumerate((100, 1_000, 10_000, 100_000)):
        for number in range(1, 10):
            assert (store / f"files/d0001/c{size_class}_{number}").stat().st_size == number * smallest
    assert len(list(store.glob("files/*/*"))) == 2 * 36
    assert (store / "size").read_text() == "2 3 0\n"
    assert (store / "records").stat().st_size == 3 * 128


def test_web_documents_can_have_a_fixed_size(tmp_path: Path) -> None:
    options = ["--directories", "2", "--users", "3", "--document-bytes", "10240"]
    subprocess.run([WEBSTORE, "--root", tmp_path / "store", *options], check=True)
    files = list((tmp_path / "store").glob("files/*/*"))
    assert [path.stat().st_size for path in files] == [10240] * 2 * 36
    assert len({path.read_bytes() for path in files}) == len(files), "each has a text of its own"
    assert (tmp_path / "store" / "size").read_text() == "2 3 10240\n"


def test_files_of_different_directories_differ(store: Path) -> None:
    contents = [path.read_bytes() for path in store.glob("files/*/c1_1")]
    assert len(set(contents)) == len(contents) == 2


def test_web_page_shows_a_record_and_a_file(store: Path) -> None:
    head, _, body = page(store, "1.2.3.2").partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert (store / "records").read_bytes()[256:] + (store / "files/d0001/c2_3").read_bytes() in body
    assert b"User 2" in body and b"files/d0001/c2_3" in body


@pytest.mark.parametrize("query", ["", "1", "1.2.3", "1.2.3.4", "1.2.3.2x", "9.1.1.1", "0.4.1.1", "0.1.0.1", "a.b.c.d"])
def test_web_page_for_malformed_or_unknown_query_is_not_found(query: str, store: Path) -> None:
    assert page(store, query).startswith(b"Status: 404 ")


WHOLE = ["--root", "x", "--directories", "1", "--users", "1"]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--root", "x"],
        ["--root", "x", "--directories", "0", "--users", "1"],
        [*WHOLE, "--document-bytes"],
        [*WHOLE, "--document-bytes", "10k"],
        [*WHOLE, "--documents", "10"],
    ],
)
def test_malformed_webstore_options_are_refused(options: list[str], tmp_path: Path) -> None:
    done = subprocess.run([WEBSTORE, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
