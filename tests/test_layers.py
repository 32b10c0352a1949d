# SPDX-License-Identifier: GPL-2.0-or-later
"""The lint rule for includes that point up and for circular imports, on small trees."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from s80lab.base import paths


@pytest.fixture(scope="module")
def layers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("layers", paths.ROOT / "scripts" / "layers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def test_include_of_a_higher_folder_is_rejected(layers: ModuleType, tmp_path: Path) -> None:
    src = write(tmp_path, {"cache/a.h": '#include "base/types.h"\n#include "memory/hierarchy.h"\n#include <vector>\n'})
    assert list(layers.upward_includes(src)) == [
        "src/cache/a.h includes a header of src/memory, which is not below src/cache"
    ]


def test_folder_without_a_rank_is_rejected(layers: ModuleType, tmp_path: Path) -> None:
    src = write(tmp_path, {"model/a.h": "", "base/b.cpp": '#include "model/a.h"\n'})
    assert [fault.partition(":")[0] for fault in layers.upward_includes(src)] == [
        "src/base/b.cpp includes a header of src/model, which is not below src/base",
        "src/model/a.h",
    ]


def test_circular_import_inside_a_function_is_rejected(layers: ModuleType, tmp_path: Path) -> None:
    package = write(
        tmp_path / "lab",
        {
            "__init__.py": "",
            "a.py": "from lab import b\n",
            "b.py": "def late():\n    from lab.sub.c import name\n",
            "sub/__init__.py": "",
            "sub/c.py": "import lab.a\n",
        },
    )
    assert list(layers.circles(layers.imports(package))) == ["circular imports: lab.a -> lab.b -> lab.sub.c -> lab.a"]


def test_import_for_type_checks_alone_makes_no_circle(layers: ModuleType, tmp_path: Path) -> None:
    package = write(
        tmp_path / "lab",
        {"a.py": "import lab.b\n", "b.py": "if TYPE_CHECKING:\n    import lab.a\n"},
    )
    assert list(layers.circles(layers.imports(package))) == []


def test_shipped_sources_have_no_fault(layers: ModuleType) -> None:
    assert layers.main() == 0
