# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of a run's products: a run with a changed product is not whole, and the text says which file changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.base.test_records import flip_last_byte

from s80lab.analysis.groups import read_run
from s80lab.results.products import is_whole, record_products, why_not_whole
from s80lab.results.run_folder import RunFolder


def test_manifest_lists_size_and_hash_of_each_product(run_dir: Path) -> None:
    (run_dir / "warmup.jsonl").write_text("intervals")
    (run_dir / "report.html").write_text("page")
    record_products(RunFolder(run_dir))
    manifest = json.loads((run_dir / "manifest.json").read_text())
    assert sorted(manifest["files"]) == [
        *("machine.toml", "snapshots.jsonl", "stats.json", "transactions.json", "warmup.jsonl"),
    ]
    assert manifest["files"]["warmup.jsonl"] == {
        "bytes": 9,
        "sha256": "ec3f30fe82847d4fd43a93fc4753900f2886d126b25bce52442a8627d4047505",
    }


@pytest.mark.parametrize("name", ["stats.json", "snapshots.jsonl", "transactions.json", "machine.toml"])
def test_run_with_a_changed_product_is_not_whole(run_dir: Path, name: str) -> None:
    record_products(RunFolder(run_dir))
    assert is_whole(run_dir) and why_not_whole(run_dir) == ""
    flip_last_byte(run_dir / name)
    assert not is_whole(run_dir)
    assert f"imapb-1/{name}: the file differs from the file that s80lab wrote" in why_not_whole(run_dir)
    (run_dir / name).unlink()
    assert f"imapb-1/{name}: the file is missing" in why_not_whole(run_dir)


def test_run_without_a_list_stays_readable(run_dir: Path) -> None:
    """The shipped reference runs have no list, and their folders lack snapshots.jsonl and machine.toml."""
    for name in ("snapshots.jsonl", "machine.toml"):
        (run_dir / name).unlink()
    assert is_whole(run_dir)
    assert read_run(run_dir).manifest["run"] == "imapb-1"
