# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs as distributions ship them: multithreaded, with several processes, with interpreters and plug-ins."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.exec.libraries import Libraries, NotFoundError, Placed
from s80lab.exec.tree import Wanted, collect

pytestmark = pytest.mark.guest

POOL = """
from multiprocessing import Pool
def square(n):
    return n * n
if __name__ == "__main__":
    with Pool(4) as pool:
        print(sum(pool.map(square, range(200))))
"""


def _needs(path: str) -> str:
    if not Path(path).is_file():
        pytest.skip(f"{path} is not installed")
    return path


def test_compressor_with_threads_writes_what_the_host_reads(execute: Exec, tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(40000)).encode()
    (tmp_path / "numbers").write_bytes(text)
    words = ("--", _needs("/usr/bin/xz"), "-T4", "-0", "--block-size=64KiB", "numbers")
    ran = execute("--no-misses", "--add", "numbers", "--get", "numbers.xz", *words)
    assert ran.code == 0
    assert subprocess.run(["xz", "-dc", tmp_path / "numbers.xz"], capture_output=True, check=True).stdout == text


def test_python_with_several_processes_finds_its_library(execute: Exec, tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    python = _needs("/usr/bin/python3")
    if shutil.which("dpkg-query") is None:
        pytest.skip("python3 is of no Debian package")
    ran = execute("--no-misses", "--add", "pool.py", "--", python, "pool.py")
    assert (ran.code, ran.stdout) == (0, f"{sum(n * n for n in range(200))}\n".encode())


def test_interpreter_of_no_package_gets_a_note(tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "python3")
    notes = collect(Wanted([str(tmp_path / "python3")])).notes
    assert len(notes) == 1
    assert "its own files do not come along: name the system's /usr/bin/python3" in notes[0]


def test_foreign_program_of_a_project_folder_gets_a_note(
    execute: Exec, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    content = bytearray(compiled("int main(void) { return 0; }").read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # e_machine: EM_AARCH64
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "arm64").write_bytes(content)
    (tmp_path / "project" / "arm64").chmod(0o755)
    ran = execute("--no-misses", "--add", "project", "--", "test", "-x", "project/arm64")
    assert ran.code == 0
    assert "s80lab exec: note: project/arm64: the program is for AARCH64" in ran.stderr


def test_program_of_the_system_that_is_a_link_stays_a_link() -> None:
    link = next((path for path in sorted(Path("/usr/bin").iterdir()) if _is_link_to_system(path)), None)
    if link is None:
        pytest.skip("/usr/bin has no link to a program elsewhere")
    tree = collect(Wanted([str(link)]))
    assert tree.command == [str(link)]
    assert tree.links == {str(link): str(link.resolve())}
    assert tree.files[str(link.resolve())] == link.resolve()


def _is_link_to_system(path: Path) -> bool:
    real = path.resolve()
    if not path.is_symlink() or not str(real).startswith("/usr/lib/") or not real.is_file():
        return False
    with real.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def test_library_of_a_plug_in_may_be_missing(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    compiled("int core(void) { return 0; }", "-shared", "-fPIC", name="libcore.so")
    plug_in = Placed(
        compiled("int core(void); int plug(void) { return core(); }", "-shared", "-fPIC", f"-L{tmp_path}", "-lcore",
                 name="plug.so"),
        "/usr/lib/plug.so",
    )  # fmt: skip
    main = Placed(compiled("int main(void) { return 0; }"), "/usr/bin/main")
    found = {Path(file.guest).name for file in Libraries().closure([main], [plug_in])}
    assert "libc.so.6" in found
    assert "libcore.so" not in found
    with pytest.raises(NotFoundError, match=r"libcore\.so, which it needs, was not found"):
        Libraries().closure([main, plug_in])


def test_user_may_write_where_the_program_begins(execute: Exec, tmp_path: Path) -> None:
    ran = execute("--no-misses", "--run-as", "user", "--get", "out", "--", "sh", "-c", "id -u > out")
    assert ran.code == 0
    assert (tmp_path / "out").read_text() == "1000\n"


def test_daemon_of_the_background_command_is_awaited(execute: Exec) -> None:
    """The command ends before the file exists at which it is awaited."""
    late = "(sleep 0.05; touch /tmp/ready) & exit 0"
    ran = execute("--no-misses", "--background", late, "--ready", "/tmp/ready", "--", "test", "-e", "/tmp/ready")
    assert ran.code == 0
