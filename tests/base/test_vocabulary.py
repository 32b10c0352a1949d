# SPDX-License-Identifier: GPL-2.0-or-later
"""The declarations of statistics: the committed file is that of the built program, and the package copies no labels."""

import subprocess
from pathlib import Path

from s80lab.base import paths
from s80lab.base.vocabulary import FILE, LABELS, STATISTICS, texts

PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "s80lab"


def test_committed_vocabulary_is_what_the_program_prints() -> None:
    done = subprocess.run([paths.BIN / "s80-step", "vocabulary"], capture_output=True, text=True, check=True)
    assert FILE.read_text(encoding="utf-8") == done.stdout


def test_statistics_have_declared_dimensions() -> None:
    for statistic in STATISTICS.values():
        assert {*statistic.dims} <= {"core", *LABELS}, statistic.name
        assert statistic.description and statistic.unit


def test_texts_cover_all_labels_of_a_dimension() -> None:
    assert tuple(texts("entry")) == LABELS["entry"]
    assert texts("kind", "all") == {
        "ifetch": "instruction fetch", "load": "load", "store": "store", "walk": "page walk", "all": "all",
    }  # fmt: skip
