# SPDX-License-Identifier: GPL-2.0-or-later
"""The declarations of statistics: the committed file is that of the built program, and the package copies no labels."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.vocabulary import FILE, LABELS, STATISTICS, texts

PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "s80lab"
OTHER_WORDS = {
    ("commands/line/options.py", "state"): "values of an option: a Literal is a static type",
    ("config/workload.py", "transaction"): "the transactions that an IMAP workload may have, with their meaning",
    ("gem5/agree/categories.py", "state"): "states of gem5's protocol",
    ("gem5/agree/three_level.py", "state"): "states of gem5's protocol",
    ("gem5/agree/three_level.py", "kind"): "the kinds of access that are reads",
    ("gem5/table.py", "state"): "states of gem5's protocol",
    ("gem5/table.py", "kind"): "gem5's names of events, for each kind that gem5 counts",
    ("protocol/diagram.py", "state"): "colours",
    ("protocol/show.py", "state"): "colours",
    ("protocol/table.py", "state"): "letters in a protocol's file: a Literal is a static type",
    ("report/figures/caches.py", "state"): "names of colours",
    ("report/figures/style.py", "source"): "colours",
    ("report/figures/style.py", "state"): "colours",
    ("report/figures/style.py", "service"): "colours",
    ("trace/step.py", "kind"): "verbs",
    ("trace/values.py", "kind"): "events of a protocol's file",
}
"""Lists of words that are labels of a dimension too, by file and dimension, with what the words stand for there."""


def copied(source: str) -> Iterator[tuple[int, str]]:
    """Line and dimension of each list, tuple, set and dictionary with all labels of a dimension, or all but one of at
    least four; and of each text whose letters are such labels, as in `for state in "MOES"`."""
    for node in ast.walk(ast.parse(source)):
        found = set(_words(node))
        for dim, labels in LABELS.items():
            if len(found & {*labels}) >= (len(labels) if len(labels) < 4 else len(labels) - 1):
                yield getattr(node, "lineno", 0), dim


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
        for item in node.keys if isinstance(node, ast.Dict) else node.elts:
            if isinstance(item, ast.Starred):
                yield from _words(item.value)
            elif isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield item.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and {*node.value} <= {*LABELS["state"]}:
        yield from node.value


def test_committed_vocabulary_is_what_the_program_prints() -> None:
    done = subprocess.run([paths.BIN / "s80-step", "vocabulary"], capture_output=True, text=True, check=True)
    assert FILE.read_text(encoding="utf-8") == done.stdout


def test_statistics_have_declared_dimensions() -> None:
    for statistic in STATISTICS.values():
        assert {*statistic.dims} <= {"core", *LABELS}, statistic.name
        assert statistic.description and statistic.unit


def test_texts_cover_all_labels_of_a_dimension() -> None:
    assert tuple(texts("entry")) == LABELS["entry"]
    assert texts("privilege", "all") == {"user": "user", "kernel": "kernel", "all": "all"}
    assert texts("kind")["walk"] == "page walk"


def test_package_has_no_copy_of_the_labels_of_a_dimension() -> None:
    found = {
        (file.relative_to(PACKAGE).as_posix(), dim): f"{file}, line {line}: copies labels of `{dim}`"
        for file in sorted(PACKAGE.rglob("*.py"))
        for line, dim in copied(file.read_text(encoding="utf-8"))
    }
    assert [text for place, text in found.items() if place not in OTHER_WORDS] == []
    assert found.keys() >= OTHER_WORDS.keys(), "OTHER_WORDS names places that have no such list"


@pytest.mark.parametrize(
    ("source", "dims"),
    [
        ('KINDS = ("ifetch", "load", "store")', ["kind"]),
        ('{"user": 1, "kernel": 2}', ["privilege"]),
        ('[*("memory", "M", "O"), "E", "S", "llc"]', ["source", "state"]),
        ('for state in "MOES": pass', ["state"]),
        ('DATA = ("load", "store")', []),
    ],
)
def test_copies_of_labels_are_found(source: str, dims: list[str]) -> None:
    assert [dim for _, dim in copied(source) if dim in dims or not dims] == dims
