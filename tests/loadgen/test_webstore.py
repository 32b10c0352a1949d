# SPDX-License-Identifier: GPL-2.0-or-later
"""The web server's store, and the program that makes pages of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.loadgen.web_system import PAGE, WEBSTORE


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
