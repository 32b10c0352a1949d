# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of misses from a guest: the same as its log, bounded, and complete where a region has no end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.lab import Lab
from tests.programs.program import Measured, Run, measure

from s80lab.analysis.misses.log import Log, read_log
from s80lab.analysis.misses.memory import What
from s80lab.analysis.misses.names import Details, Named
from s80lab.analysis.misses.run import group
from s80lab.analysis.misses.sharing import lines_of
from s80lab.analysis.misses.sums import read_sums
from s80lab.config.experiment import DEFAULT_SERVER
from s80lab.guest.kernel.facts import load_kernel
from s80lab.image.build import image_folder

pytestmark = pytest.mark.guest
RUNS = (Run("alternate", 2, 2000), Run("counter", 4, 500))
NEVER = 10**15  # instructions: the region of the argument `measure` does not begin


@pytest.fixture(scope="module")
def folder(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sums")


def kernel_file() -> Path:
    return load_kernel(image_folder("debian", DEFAULT_SERVER)).plugin_file


@pytest.fixture(scope="module")
def measured(folder: Path) -> list[Measured]:
    names = {name: folder / f"{name}.bin" for name in ("sums", "misses")}
    return measure(folder, RUNS, plugin={**names, "kernel": kernel_file(), "measure": NEVER})


def tables(log: Log) -> tuple[object, ...]:
    """The tables of misses by line, offset and process, with the code's pages as functions."""
    pages, page = np.unique(log.records["pc"] >> np.uint64(12), return_inverse=True)
    nothing = np.zeros(len(log.records), dtype=np.int64)
    named = Named([f"{number:x}" for number in pages.tolist()], page.reshape(-1), [What("", "")], nothing)
    grouped = group(log, named, Details([""], nothing, [""], nothing), lines_of(log))
    texts = list(grouped.texts)
    accesses = {tuple(texts[i] if 2 <= n < 7 else i for n, i in enumerate(row)) for row in grouped.accesses}
    return list(grouped.lines), accesses


def test_sums_of_program_regions_match_snapshots(measured: list[Measured], folder: Path) -> None:
    counted = sum(run.region.total("l2_misses") + run.region.total("upgrades") for run in measured)
    sums = read_sums(folder / "sums.bin", requests=counted)
    assert (sums.regions, sums.complete) == (2, True)
    user = sums.records["context"] % len(sums.labels["entry"]) == sums.labels["entry"].index("user")
    data = sums.stores | (sums.records["kind"] == sums.labels["kind"].index("load"))
    assert int(sums.requests(sums.by_cache & data & user).sum()) == sum(run.transfers for run in measured)
    assert {who.comm for who in sums.whos} >= {"alternate", "counter"}
    assert all(who.tgid <= who.pid for who in sums.whos)


def test_sums_give_the_tables_of_the_log(measured: list[Measured], folder: Path) -> None:
    assert tables(read_sums(folder / "sums.bin")) == tables(read_log(folder / "misses.bin"))


def test_bounded_sums_keep_the_totals(measured: list[Measured], folder: Path, tmp_path: Path) -> None:
    plugin = {"sums": tmp_path / "sums.bin", "sums_limit": 1000, "kernel": kernel_file()}
    again = measure(tmp_path, RUNS, plugin=plugin)
    counted = sum(run.region.total("l2_misses") + run.region.total("upgrades") for run in again)
    bounded = read_sums(tmp_path / "sums.bin", requests=counted)
    whole = read_sums(folder / "sums.bin")
    assert len(bounded.records) < 1000 < len(whole.records)
    assert [int(bounded.requests(mask).sum()) for mask in (bounded.by_cache, bounded.by_memory)] == [
        int(whole.requests(mask).sum()) for mask in (whole.by_cache, whole.by_memory)
    ]
    top = {int(line) for line in whole.records["physical"][np.argsort(whole.records["count"])[-4:]]}
    assert top <= {int(line) for line in bounded.lines.records["physical"]}
