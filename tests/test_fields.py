# SPDX-License-Identifier: GPL-2.0-or-later
"""The lint rule for classes with too many fields, on a small header."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from s80lab.base import paths


@pytest.mark.parametrize(
    ("name", "fields", "faults"),
    [
        ("Large", 21, ["src/a.h:2: Large has 21 fields, more than 20: divide it by its tasks"]),
        ("Small", 20, []),
        ("Machine", 21, []),
    ],
)
def test_class_with_too_many_fields_is_reported(name: str, fields: int, faults: list[str], tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("fields", paths.ROOT / "scripts" / "fields.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "src").mkdir()
    lines = "".join(f"    int field_{number};\n" for number in range(fields))
    (tmp_path / "src" / "a.h").write_text(f"#pragma once\nstruct {name} {{\n{lines}    int last() const;\n}};\n")
    assert list(module.large_classes(tmp_path / "src")) == faults
