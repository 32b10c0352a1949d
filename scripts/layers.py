# SPDX-License-Identifier: GPL-2.0-or-later
"""Check which parts of the sources use each other; print each fault.

C++: a folder of `src` includes only headers of its own and of lower folders. Python: no module of `s80lab` imports
itself through other modules, whether at its top or inside a function.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    *("base", "stream", "stats", "cache", "machine", "coherence", "memory", "timing", "observe", "checkpoint"),
    *("trace", "replay", "warm", "plugin"),
)
"""The folders of `src`, from the lowest to the highest."""
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"/]+)/[^"]*"', re.MULTILINE)


def upward_includes(src: Path) -> Iterator[str]:
    """One sentence for each include that names a higher folder, and for each folder that has no rank."""
    rank = {folder: number for number, folder in enumerate(FOLDERS)}
    for file in sorted(path for path in src.rglob("*") if path.suffix in (".h", ".cpp")):
        name = file.relative_to(src)
        folder = name.parts[0]
        if folder not in rank:
            yield f"src/{name}: src/{folder} is not in the list of folders of scripts/layers.py"
            continue
        for included in INCLUDE.findall(file.read_text()):
            if rank.get(included, len(rank)) > rank[folder]:
                yield f"src/{name} includes a header of src/{included}, which is not below src/{folder}"


def imports(package: Path) -> dict[str, set[str]]:
    """The modules of the package that each of its modules imports, except for type checks alone."""
    modules = {_module(file, package): file for file in sorted(package.rglob("*.py"))}
    return {name: set(_imported(file, modules)) - {name} for name, file in modules.items()}


def _module(file: Path, package: Path) -> str:
    words = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def _imported(file: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in _executed(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [(f"{node.module}.{alias.name}", node.module) for alias in node.names]
        else:
            continue
        yield from (name if name in modules else module for name, module in names if {name, module} & modules.keys())


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield node
            yield from _executed(node)


def circles(imported: Mapping[str, set[str]]) -> Iterator[str]:
    """One sentence for each shortest circle of imports."""
    found: set[frozenset[str]] = set()
    for begin in sorted(imported):
        paths = [[begin]]
        seen: set[str] = set()
        for path in paths:  # grows: breadth first
            for name in sorted(imported.get(path[-1], ())):
                if name == begin:
                    if frozenset(path) not in found:
                        found.add(frozenset(path))
                        yield f"circular imports: {' -> '.join([*path, begin])}"
                    seen |= imported.keys()
                elif name not in seen:
                    seen.add(name)
                    paths.append([*path, name])


def main() -> int:
    faults = [*upward_includes(ROOT / "src"), *circles(imports(ROOT / "scripts" / "s80lab"))]
    for fault in faults:
        print(fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
