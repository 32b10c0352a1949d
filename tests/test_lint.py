# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of `make lint` that are our own, on small trees: includes that point up, circular imports, and the language of
documents (scripts/language.py)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
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


SCRIPT = paths.ROOT / "scripts" / "language.py"


@pytest.fixture
def page() -> Iterator[Path]:
    """A page among the guides, where sentences are limited to 35 words."""
    file = paths.ROOT / "docs" / "guides" / ".planted.md"
    yield file
    file.unlink(missing_ok=True)


def refused(*files: Path) -> list[str]:
    names = [str(file.relative_to(paths.ROOT)) for file in files]
    done = subprocess.run([sys.executable, SCRIPT, *names], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == bool(done.stderr), done.stderr
    return done.stderr.splitlines()


def test_language_refuses_a_sentence_of_45_words(page: Path) -> None:
    page.write_text("# Title\n\nShort. " + "\n".join(["word"] * 45) + ".\n")
    (line,) = refused(page)
    assert line.startswith("docs/guides/.planted.md:3: a sentence of 45 words, 35 at most: word word")


def test_language_accepts_35_words_and_long_tables_and_code(page: Path) -> None:
    words = "a " * 34 + "word"
    page.write_text(f"{words}.\n\n| a |\n| --- |\n| {words} {words} |\n\n```\n{words} {words}\n```\n")
    assert refused(page) == []


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("The time is the modelled time.", "simulated time"),
        ("Three client cycles are needed.", "closed-loop cycle"),
        ("A replay is no live run.", "is not a"),
        ("The user is told where.", "who tells"),
    ],
)
def test_language_refuses_a_replaced_term(page: Path, text: str, advice: str) -> None:
    page.write_text(f"{text}\n")
    (line,) = refused(page)
    assert advice in line


def test_language_accepts_code_names_and_former_terms(page: Path) -> None:
    page.write_text("The key `modelled time` stays. Formerly *client cycle*. It is no longer used.\n")
    assert refused(page) == []


def test_language_refuses_a_long_line(page: Path) -> None:
    page.write_text("x" * 160 + "\n\n" + "x" * 159 + "\n")
    assert refused(page) == ["docs/guides/.planted.md:1: a line of 160 characters, below 160 is asked for"]
