# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of schema 1 are read with the names of schema 2. The runs are those of the reference results, which were
written before the names changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from s80lab.base.renamed import MARKS, RESULT_KEYS, VERDICTS
from s80lab.results.reference import result_runs
from s80lab.results.run_folder import MANIFEST, STATS, RunFolder, renewed
from s80lab.results.snapshots import MARKS as NEW_MARKS

SETS = ("small", "servers", "uw", "buildroot")


@pytest.fixture(scope="module", params=SETS)
def folders(request: pytest.FixtureRequest) -> list[Path]:
    return result_runs(request.param)


def names_and_values(content: Any, names: dict[str, str], words: dict[str, str]) -> Any:
    """The content with each key and each verdict replaced, as text: by other code than that of the package."""
    text = json.dumps(content)
    for old, new in names.items():
        text = text.replace(f'"{old}":', f'"{new}":')
    for old, new in words.items():
        text = text.replace(f'"verdict": "{old}"', f'"verdict": "{new}"')
    return json.loads(text)


@pytest.mark.parametrize("name", [STATS, MANIFEST])
def test_file_of_schema_1_equals_its_renamed_content(folders: list[Path], name: str) -> None:
    for folder in folders:
        old = json.loads((folder / name).read_text())
        assert old["schema"] == 1
        read = RunFolder(folder).stats if name == STATS else RunFolder(folder).manifest
        # A manifest of the first versions lacks server and image.
        given = {key: value for key, value in read.items() if key in ("server", "image") and key not in old}
        assert read == names_and_values(old, RESULT_KEYS, VERDICTS) | {"schema": 2} | given


def test_renamed_content_keeps_every_number(folders: list[Path]) -> None:
    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return sorted(number for item in value for number in numbers(item))
        return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []

    for folder in folders:
        old = json.loads((folder / STATS).read_text())
        assert numbers(old) == numbers(renewed(old))


def test_no_new_name_is_an_old_one() -> None:
    for names in (RESULT_KEYS, VERDICTS, MARKS):
        assert not set(names) & set(names.values())
    assert set(MARKS.values()) <= set(NEW_MARKS)
