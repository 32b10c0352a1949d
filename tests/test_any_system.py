# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line starts on any system: modules and functions that Windows lacks are used only inside functions.

tests/test_wheel.py runs the wheel for any system without them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.programs import built
from s80lab.experiment.resources import available_memory

PACKAGE = paths.ROOT / "scripts" / "s80lab"
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
FUNCTIONS = {
    "os.O_DIRECTORY",
    "os.SEEK_DATA",
    "os.SEEK_HOLE",
    "os.fork",
    "os.getegid",
    "os.geteuid",
    "os.getgid",
    "os.getuid",
    "os.killpg",
    "os.sched_getaffinity",
    "os.setsid",
    "os.uname",
    "signal.SIGHUP",
    "signal.SIGKILL",
    "signal.SIGUSR1",
    "socket.AF_UNIX",
}


def uses_at_import(tree: ast.AST) -> Iterator[str]:
    """The modules that a file imports outside functions, and the attributes of modules that it reads there."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # Decorators and default values run at import.
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from uses_at_import(ast.Expression(part))
        elif not isinstance(node, ast.Lambda):
            yield from uses_at_import(node)


def test_package_at_import_uses_nothing_that_windows_lacks() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 200
    used = {file: set(uses_at_import(ast.parse(file.read_text(encoding="utf-8")))) for file in files}
    assert {file: names for file in files if (names := used[file] & (MODULES | FUNCTIONS))} == {}


def test_uses_at_import_finds_imports_and_attributes_outside_functions() -> None:
    text = """
import fcntl, os
if os:
    from pwd import getpwnam
class A:
    user = os.getuid()
    def method(self, group=os.getgid()):
        import termios
        os.killpg(1, 2)
"""
    used = set(uses_at_import(ast.parse(text))) & (MODULES | FUNCTIONS)
    assert used == {"fcntl", "pwd", "os.getuid", "os.getgid"}


def test_cores_without_affinity_are_those_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert host.cores() == 7
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert host.cores() == 1


def test_available_memory_without_meminfo_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^this command needs Linux: .*meminfo is missing"):
        available_memory(tmp_path / "meminfo")


@pytest.mark.parametrize(
    ("name", "command"),
    [("bin/s80-step", "make lesson"), ("bin/s80-order", "make build"), ("lib/libs80slices.so", "make build")],
)
def test_built_in_a_checkout_names_the_command_that_builds_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, command: str
) -> None:
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    with pytest.raises(UserError) as refused:
        built(tmp_path / "build" / name)
    assert str(refused.value) == f"build/{name} is missing: run `{command}`"


@pytest.mark.parametrize(("name", "kind"), [("bin/s80-step", "program"), ("lib/libs80lab.so", "plugin")])
def test_built_in_a_package_names_the_package_that_contains_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, kind: str
) -> None:
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "CHECKOUT", False)
    with pytest.raises(UserError) as refused:
        built(tmp_path / "build" / name)
    assert str(refused.value) == (
        f"this package does not contain the compiled {kind} {Path(name).name}: install a package that `make wheel` "
        "built in a clone of s80lab on Linux"
    )
