# SPDX-License-Identifier: GPL-2.0-or-later
"""The package outside its checkout: wheels in a virtual environment of their own, and a lab of their own."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.base.staging import held
from s80lab.base.version import __version__
from s80lab.commands.run_tables import INVALID
from s80lab.results.reference import result_runs
from s80lab.results.run_folder import RunFolder

RUNS = "imapb-tiny-s1-*"
LESSON_S = 5
# Prints the help of every command.
HELP = """
from typer.main import get_command
from s80lab.commands.line.app import app

whole = get_command(app)

def show(path, command):
    whole.main([*path, "--help"], prog_name="s80lab", standalone_mode=False)
    print("shown:", *path)
    for name, part in getattr(command, "commands", {}).items():
        show([*path, name], part)

show([], whole)
"""


class Installed:
    """The command of the wheel; nothing of the checkout is on its path or in its environment."""

    def __init__(self, environment: Path, lab: Path) -> None:
        self.program = environment / "bin" / "s80lab"
        self.lab = lab

    def environment(self) -> dict[str, str]:
        return {
            name: value for name, value in os.environ.items() if not name.startswith(("S80LAB", "PYTHON", "VIRTUAL"))
        }

    def python(self, code: str, **environment: str) -> str:
        """What this code prints in the wheel's Python."""
        return self._output([self.program.with_name("python"), "-c", code], 0, self.lab, environment)

    def call(self, *arguments: str, code: int = 0, here: Path | None = None, **environment: str) -> str:
        return self._output([self.program, *arguments], code, here or self.lab, environment)

    def _output(self, command: list[str | Path], code: int, here: Path, environment: dict[str, str]) -> str:
        done = subprocess.run(
            command,
            cwd=here,
            env={**self.environment(), **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def install(self, *arguments: str | Path) -> None:
        options = ("--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps")
        command = [self.program.with_name("pip"), "install", *options, *arguments]
        subprocess.run(command, check=True, timeout=LIMIT_S)


class OnAnySystem:
    """The command of the wheel for any system, in a Python that lacks what only Linux has (tests/any_system)."""

    def __init__(self, wheel: Path, installed: Installed, folder: Path) -> None:
        self.wheel = wheel
        self._installed = installed
        # Beside the other wheel's packages; Python finds this one first.
        installed.install("--target", folder, wheel)
        self._path = os.pathsep.join([str(paths.ROOT / "tests" / "any_system"), str(folder)])
        self.folder = folder

    def python(self, code: str) -> str:
        return self._installed.python(code, PYTHONPATH=self._path)

    def call(self, *arguments: str, code: int = 0) -> str:
        return self._installed.call(*arguments, code=code, PYTHONPATH=self._path)


def build_wheel(target: str, system: str, folder: Path) -> Path:
    """The wheel that this target of the Makefile builds, copied to the folder."""
    # All sessions build in the same folder.
    with held(paths.BUILD / "wheel.lock", lambda: None):
        subprocess.run(["make", "--silent", target], cwd=paths.ROOT, check=True, capture_output=True, timeout=LIMIT_S)
        (wheel,) = (paths.ROOT / "build" / "dist").glob(f"s80lab-*-py3-none-{system}.whl")
        return Path(shutil.copy(wheel, folder))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel("wheel", "linux_*", folder)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, timeout=LIMIT_S)
    command = Installed(folder / "venv", folder / "lab")
    command.install("--require-hashes", "-r", paths.ROOT / "requirements.lock")
    command.install(wheel)
    command.call("init", str(folder / "lab"), here=folder)
    return command


@pytest.fixture(scope="module")
def on_any_system(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> OnAnySystem:
    folder = tmp_path_factory.mktemp("any")
    return OnAnySystem(build_wheel("wheel-any", "any", folder), installed, folder / "packages")


def test_wheel_proves_all_shipped_protocols(installed: Installed) -> None:
    assert installed.call("protocol", "check", "--all").count(": proven for 3 caches") == 12


def test_wheel_steps_through_a_teaching_trace(installed: Installed) -> None:
    said = installed.call("trace", "step", "docs/traces/migratory.trace", "--protocol", "hammer")
    assert "A = line 0x" in said


def test_lesson_of_the_wheel_knows_without_checker_that_its_protocol_is_proven(installed: Installed) -> None:
    said = installed.call("lesson", PATH="/dev/null/absent", S80LAB_PROOFS="/dev/null/absent")
    assert said.startswith("Producer and consumer: ")


@pytest.mark.parametrize("command", [("lesson",), ("trace", "step", "docs/traces/migratory.trace")])
def test_lesson_of_the_wheel_takes_less_than_five_seconds(installed: Installed, command: tuple[str, ...]) -> None:
    """Processor time, because other tests run at the same time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "core 0" in installed.call(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < LESSON_S


def test_python_reads_what_comes_with_it(installed: Installed) -> None:
    """Without pandas, which is an extra."""
    code = "from s80lab import Lab; print([run.manifest['seed'] for run in Lab().reference('small')])"
    there = [RunFolder(folder).manifest["seed"] for folder in result_runs("small")]
    assert installed.python(code) == f"{there}\n"


def test_protocol_added_to_the_lab_is_found_and_proven(installed: Installed) -> None:
    installed.call("protocol", "new", "mine")
    assert (installed.lab / "configs" / "protocols" / "mine.toml").is_file()
    assert "mine: proven" in installed.call("protocol", "check", "mine")
    (installed.lab / "configs" / "protocols" / "mine.toml").unlink()


def test_lab_is_found_from_a_subfolder_and_by_the_environment(installed: Installed, tmp_path: Path) -> None:
    below = installed.lab / "docs" / "traces"
    assert str(installed.lab / "build") in installed.call("doctor", here=below, code=1)
    elsewhere = installed.call("doctor", here=tmp_path, code=1, S80LAB_HOME=str(installed.lab))
    assert str(installed.lab / "build") in elsewhere


def test_folder_in_use_is_refused_for_a_new_lab(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("mine")
    said = installed.call("init", str(tmp_path), code=2)
    assert said == f"s80lab: {tmp_path} is not empty: name a new or empty folder\n"
    assert "is a lab already" in installed.call("init", str(installed.lab), code=2)


def test_wheel_for_any_system_contains_no_compiled_program(on_any_system: OnAnySystem) -> None:
    with zipfile.ZipFile(on_any_system.wheel) as wheel:
        assert [name for name in wheel.namelist() if wheel.read(name)[:4] in (b"\x7fELF", b"PK\x03\x04")] == []
        assert [name for name in wheel.namelist() if name.startswith("s80lab/shipped/build/")] == []
    assert on_any_system.python("import s80lab; print(s80lab.__file__)").startswith(str(on_any_system.folder))


def test_simulated_non_linux_system_lacks_the_linux_modules(on_any_system: OnAnySystem) -> None:
    """Otherwise the tests below would show nothing."""
    code = """
import os
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error.name, end=" ")
print([name for name in ("getuid", "sched_getaffinity") if hasattr(os, name)])
"""
    assert on_any_system.python(code) == "fcntl resource termios pwd grp []\n"


def test_help_of_every_command_on_any_system_is_shown(on_any_system: OnAnySystem) -> None:
    shown = [line for line in on_any_system.python(HELP).splitlines() if line.startswith("shown:")]
    assert len(shown) > 40
    assert {"shown:", "shown: run", "shown: trace step", "shown: protocol list"} <= set(shown)
    assert "Usage: s80lab" in on_any_system.call("--help")


def test_protocols_on_any_system_are_listed_and_shown(on_any_system: OnAnySystem) -> None:
    listed = on_any_system.call("protocol", "list")
    assert [path.stem for path in paths.PROTOCOLS.glob("*.toml") if path.stem not in listed] == []
    assert "MOESI" in on_any_system.call("protocol", "show", "moesi")


def test_proof_of_the_lab_on_any_system_is_read_without_locks(installed: Installed, on_any_system: OnAnySystem) -> None:
    installed.call("protocol", "check", "msi")
    rows = json.loads(on_any_system.call("protocol", "list", "--json"))
    assert next(row for row in rows if row["name"] == "msi")["proven"]


def test_lessons_and_metrics_on_any_system_are_listed(on_any_system: OnAnySystem) -> None:
    assert "producer-consumer" in on_any_system.call("lesson", "--list")
    assert "slices_m" in on_any_system.call("metrics")
    assert on_any_system.call("--version") == f"s80lab {__version__}\n"


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (("lesson",), "program s80-step"),
        (("trace", "step", "docs/traces/migratory.trace"), "program s80-step"),
        (("run", "imapb"), "plugin libs80lab.so"),
        (("image", "build"), "program s80-loadgen"),
    ],
)
def test_command_without_its_compiled_program_says_what_is_missing(
    on_any_system: OnAnySystem, command: tuple[str, ...], missing: str
) -> None:
    assert on_any_system.call(*command, code=2) == (
        f"s80lab: this package does not contain the compiled {missing}: install a package that `make wheel` built in "
        "a clone of s80lab on Linux\n"
    )


def test_command_without_file_locks_says_that_it_needs_linux(on_any_system: OnAnySystem) -> None:
    assert on_any_system.call("collect", code=2) == (
        "s80lab: this command needs Linux: this system has no file locks (Python's module fcntl)\n"
    )


@pytest.mark.guest
def test_installed_package_gives_the_run_of_the_checkout(installed: Installed, whole: Lab) -> None:
    """The same image and checkpoints give the same bytes, wherever the package lies."""
    (installed.lab / "build").mkdir(exist_ok=True)
    for part in ("image", "qemu"):
        if not (installed.lab / "build" / part).exists() and (paths.BUILD / part).exists():
            (installed.lab / "build" / part).symlink_to(paths.BUILD / part)
    installed.call(
        "run", "imapb", "--scale", "tiny", "--seeds", "1", code=INVALID, S80LAB_CHECKPOINTS=str(whole.checkpoints)
    )
    (mine,) = (installed.lab / "results" / "runs").glob(RUNS)
    (theirs,) = (whole.results / "runs").glob(RUNS)
    assert mine.name == theirs.name
    assert (mine / "stats.json").read_bytes() == (theirs / "stats.json").read_bytes()
