# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebook of the Python guide: its cells are executed in their order, and give the outputs that it shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.lab import LIMIT_S

from s80lab.base import paths

NOTEBOOK = paths.ROOT / "docs" / "guides" / "results.ipynb"
EXECUTE = """
import ast, json, sys

namespace = {}
outputs = []
for source in json.load(sys.stdin):
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), namespace)
    value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    outputs.append(None if value is None else repr(value))
json.dump(outputs, sys.stdout)
"""


def execute(sources: list[str], folder: Path) -> list[str | None]:
    """The representation of the last expression of each cell, in one fresh process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXECUTE],
        input=json.dumps(sources),
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    outputs: list[str | None] = json.loads(done.stdout)
    return outputs


def cells() -> list[dict[str, Any]]:
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def test_notebook_cells_give_the_outputs_that_it_shows(tmp_path: Path) -> None:
    code = cells()
    assert len(code) >= 5
    shown = ["".join(cell["outputs"][0]["data"]["text/plain"]) if cell["outputs"] else None for cell in code]
    assert execute(["".join(cell["source"]) for cell in code], tmp_path) == shown


def test_notebook_has_no_trace_of_the_machine_that_wrote_it() -> None:
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["metadata"]) == (4, {"language_info": {"name": "python"}})
    assert str(Path.home()) not in NOTEBOOK.read_text(encoding="utf-8")
