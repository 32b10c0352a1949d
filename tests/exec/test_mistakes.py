# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mistake of a user ends with one sentence, an exit code as of env(1), and nothing left behind."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import struct
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from tests.exec.conftest import Exec
from tests.forked import command
from tests.lab import LIMIT_S

pytestmark = pytest.mark.guest


def _program(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o755)


def _elf_header(word_size: int, machine: int) -> bytes:
    return b"\x7fELF" + bytes([word_size, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1) + bytes(40)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with programs that cannot be executed, and with pipes and folders instead of files."""
    _program(tmp_path / "interpreter", b"#!/dev/null/no/python\n")
    _program(tmp_path / "text", b"echo hello\n")
    _program(tmp_path / "nothing", b"")
    _program(tmp_path / "i386", _elf_header(1, 3))
    _program(tmp_path / "arm64", _elf_header(2, 183))
    (tmp_path / "data").write_text("data")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data").write_text("other data")
    (tmp_path / "packed.tar").write_bytes(b"\x1f\x8b" + bytes(600))
    return tmp_path


@pytest.mark.parametrize(
    ("code", "sentence", "words"),
    [
        (127, "./missing: no such file", "-- ./missing"),
        (127, "no folder of $PATH has a program", "-- no-such-program"),
        (127, "the name of the program is empty", "-- "),
        (127, "its interpreter /dev/null/no/python does not exist on this host: install it", "-- ./interpreter"),
        (126, "./data is not executable: chmod +x ./data", "-- ./data"),
        (126, "the program is for 386 (32 bits), but the guest is x86-64", "-- ./i386"),
        (126, "the program is for AARCH64 (64 bits), but the guest is x86-64", "-- ./arm64"),
        (126, "./folder is a folder: name a program", "-- ./folder"),
        (126, "neither an ELF program nor a script", "-- ./nothing"),
        (126, "neither an ELF program nor a script", "-- ./text"),
        (126, "./pipe is a device, a pipe or a socket", "-- ./pipe"),
        (127, "./circle: no such file", "-- ./circle"),
        (125, "--add missing: missing does not exist", "--add missing -- true"),
        (125, "--add circle: circle does not exist", "--add circle -- true"),
        (125, "--add pipe: is a device, a pipe or a socket", "--add pipe -- true"),
        (125, "--add /dev/zero: is a device, a pipe or a socket", "--add /dev/zero -- true"),
        (125, "--add data:rel: the guest's path must begin with /", "--add data:rel -- true"),
        (125, "the guest's /dev cannot receive files", "--add data:/dev/null -- true"),
        (125, "the guest's /tmp cannot receive files", "--add data:/work/../tmp/x -- true"),
        (125, "the guest's / cannot receive files", "--add data:/../.. -- true"),
        (125, "/usr: is a folder of the guest", "--add data:/usr -- true"),
        (125, "would both be /work/data in the guest", "--add data --add other/data -- true"),
        (125, "--get x:: a path of the host must follow the colon", "--get x: -- true"),
        (125, "name a file or folder that the program writes, not /", "--get / -- true"),
        (125, "not /proc/kmsg", "--get /proc/kmsg -- true"),
        (125, "--stdin missing: no such file", "--stdin missing -- true"),
        (125, "--stdin pipe: is not a file", "--stdin pipe -- true"),
        (125, "--env NAME: write NAME=VALUE", "--env NAME -- true"),
        (125, "--cwd sub: give a path of the guest", "--cwd sub -- true"),
        (125, "--run-as bob: give UID, UID:GID", "--run-as bob -- true"),
        (125, "--memory 1GiB: give a size from 3GiB", "--memory 1GiB -- true"),
        (125, "--memory much: `much` is not a size", "--memory much -- true"),
        (125, "--processors 0: write a whole number", "--processors 0 -- true"),
        (125, "`99` is not allowed for a guest; write a number of at most 32", "--processors 99 -- true"),
        (125, "there is no machine `none`", "--machine none -- true"),
        (125, "unknown key `no`", "--set no.key=1 -- true"),
        (125, "--name ../x: use letters", "--name ../x -- true"),
        (125, "--ready belong together", "--background x -- true"),
        (125, "--markers excludes --from", "--markers --from main -- true"),
        (125, "have no function none", "--from none -- true"),
        (125, "--rootfs packed.tar: is neither a folder nor an uncompressed tar", "--rootfs packed.tar -- true"),
        (125, "--rootfs missing: is neither a folder nor", "--rootfs missing -- true"),
        (125, "this Debian package is not installed", "--with no-such-package -- true"),
        (125, "PROGRAM [ARGUMENT] is missing", ""),
    ],
)
def test_mistake_ends_with_one_sentence(code: int, sentence: str, words: str, execute: Exec, files: Path) -> None:
    ran = execute(*(words.split(" ") if words else ()))
    assert (ran.code, ran.stdout) == (code, b"")
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not execute.result().exists()


@pytest.mark.parametrize(
    ("variable", "sentence"),
    [("PATH", "mkfs.erofs is not installed: apt-get install erofs-utils"), ("S80LAB_QEMU", "S80LAB_QEMU")],
)
def test_missing_tool_is_named(
    variable: str, sentence: str, execute: Exec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    ran = execute("--", "/bin/true")
    assert ran.code == 125
    assert sentence in ran.stderr
    assert not execute.result().exists()


def test_missing_library_has_exit_code_127(execute: Exec, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    compiled("int one(void) { return 0; }", "-shared", "-fPIC", name="libone.so")
    main = compiled("int one(void); int main(void) { return one(); }", f"-L{tmp_path}", "-lone")
    ran = execute("--", str(main))
    assert ran.code == 127
    assert "the library libone.so, which it needs, was not found on this host: install it" in ran.stderr


def test_function_of_two_files_is_refused(execute: Exec, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    twice = '__attribute__((noinline)) static int twice(int x) { __asm__(""); return x; }'
    (tmp_path / "a.c").write_text(f"{twice} int a(int x) {{ return twice(x); }}")
    (tmp_path / "b.c").write_text(f"{twice} int b(int x) {{ return twice(x); }}")
    main = "int a(int); int b(int); int main(void) { return a(1) - b(1); }"
    program = compiled(main, str(tmp_path / "a.c"), str(tmp_path / "b.c"), "-O1", "-fno-ipa-icf", "-fno-ipa-cp")
    ran = execute("--from", "twice", "--", str(program))
    assert ran.code == 125
    assert "--from twice: several functions have this name" in ran.stderr


LEAVES = "int never(void) { return 1; } int main(int c, char** v) { (void)v; return c > 1 ? never() : 5; }"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--from", "never"), "--from never: the program did not call this function"),
        (("--to", "never"), "--to never: the program did not call this function after the region's begin"),
        (("--markers",), "--markers: the program executed no marker"),
    ],
)
def test_region_that_does_not_begin_or_end_is_refused(
    options: tuple[str, ...], sentence: str, execute: Exec, compiled: Callable[..., Path]
) -> None:
    ran = execute(*options, "--", str(compiled(LEAVES)))
    assert ran.code == 125
    assert sentence in ran.stderr.splitlines()[-1]
    assert "its exit code is 5" in ran.stderr
    assert not execute.result().exists()


@pytest.mark.parametrize(
    ("source", "code", "sentence"),
    [
        ("int main(void) { *(volatile int*)0 = 1; }", 139, "was ended by SIGSEGV"),
        ('int main(void) { __asm__ volatile("vpxord %zmm0, %zmm0, %zmm0"); }', 132, "compile it for x86-64-v3"),
        ("#include <unistd.h>\nint main(void) { for (;;) fork(); }", 137, "--simulated-timeout 0.005: the program was"),
    ],
)
def test_program_that_a_signal_ends_is_named(
    source: str, code: int, sentence: str, execute: Exec, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    ran = execute("--simulated-timeout", "0.005", "--report", "report", "--", str(compiled(source)))
    assert ran.code == code
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "instructions" in (tmp_path / "report").read_text()


def test_full_memory_is_named(execute: Exec, compiled: Callable[..., Path]) -> None:
    fill = "#include <stdlib.h>\n#include <string.h>\nint main(void) { for (;;) memset(malloc(1 << 24), 1, 1 << 24); }"
    # The guest keeps most of its memory back, so that little must be filled.
    available = "sed -n 's/MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo"
    keep = f"echo $(($({available}) / 100 * 95)) > /proc/sys/vm/min_free_kbytes"
    ran = execute("--no-misses", "--setup", keep, "--report", "report", "--", str(compiled(fill)))
    assert ran.code == 137
    assert "the guest's memory was full, so its kernel ended a process: choose a larger --memory" in ran.stderr


def test_daemon_ends_with_the_program(execute: Exec) -> None:
    ran = execute("--", "sh", "-c", "(setsid sh -c 'while :; do echo more; done' &) ; echo done; exit 4")
    assert ran.code == 4
    assert b"done\n" in ran.stdout


def test_processes_that_fork_for_ever_end_with_the_program(execute: Exec) -> None:
    ran = execute("--no-misses", "--report", "report", "--", "sh", "-c", "f() { f | f & }; f; wait")
    assert (ran.code, ran.stderr) == (0, "")


@pytest.mark.parametrize("options", [("--setup", "sleep 9999999"), ("--background", "sleep 9999999", "--ready", "80")])
def test_run_that_does_not_reach_its_region_ends_with_one_sentence(options: tuple[str, ...], execute: Exec) -> None:
    ran = execute("--timeout", "0.01", *options, "--", "true")
    assert ran.code == 125
    assert "the run was ended by --timeout 0.01 before the measured region began" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not execute.result().exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", folder], capture_output=True).returncode:
        pytest.skip("only root mounts a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(("filled", "megabytes"), [(0, 60), (20, 0), (23, 0)])
def test_full_disk_ends_the_run_with_one_sentence(filled: int, megabytes: int, execute: Exec, small_disk: Path) -> None:
    """The disk is full when the files are copied, when their image is written, or while the program runs."""
    (small_disk / "filled").write_bytes(bytes(filled << 20))
    results = small_disk / "results"
    ran = execute(
        *("--no-misses", "--", "dd", "if=/dev/zero", "bs=1M", f"count={megabytes}"), S80LAB_RESULTS=str(results)
    )
    assert ran.code == 125
    assert "the disk of this folder is full" in ran.stderr
    assert not list(results.glob("exec/*"))
    assert not list(results.glob("exec/.*"))


def test_much_output_arrives_whole(execute: Exec) -> None:
    ran = execute("--no-misses", "--", "dd", "if=/dev/zero", "bs=1M", "count=100")
    assert ran.stdout == bytes(100 << 20)


def test_stdout_that_is_closed_ends_the_run(execute: Exec) -> None:
    words = command(("exec", "--no-misses", "--", "yes"))
    environment = execute.lab.environment()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "y\n"
        run.stdout.close()
        assert run.wait(LIMIT_S) == 125
        assert run.stderr is not None
        assert "stdout of the program cannot be written (Broken pipe), so the run was ended" in run.stderr.read()
    assert not execute.result().exists()


def _started(execute: Exec) -> tuple[subprocess.Popen[str], list[int]]:
    """A run whose program has begun and does not end; with the processes that it has started."""
    run = execute.lab.start("exec", "--no-misses", "--", "sh", "-c", "echo begun; while :; do :; done")
    assert run.stdout is not None
    assert run.stdout.readline() == "begun\n"
    children = Path(f"/proc/{run.pid}/task").glob("*/children")
    return run, [int(child) for path in children for child in path.read_text().split()]


def test_interrupted_run_keeps_what_was_measured(execute: Exec) -> None:
    run, children = _started(execute)
    run.send_signal(signal.SIGINT)
    text, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 130
    assert "INTERRUPTED by Ctrl-C" in text
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def test_killed_run_leaves_nothing_that_looks_complete(execute: Exec) -> None:
    run, children = _started(execute)
    handles = [os.pidfd_open(child) for child in children]
    run.kill()
    run.wait()
    for handle in handles:  # the kernel ends QEMU with its parent
        assert select.select([handle], [], [], LIMIT_S)[0]
        os.close(handle)
    assert not execute.result().exists()
    assert execute("--", "true").code == 0
    assert [path.name for path in execute.result().parent.iterdir()] == ["last"]


def test_hostile_names_survive_the_way_there_and_back(execute: Exec, tmp_path: Path) -> None:
    names = [
        b"new\nline",
        b"quo\"te's",
        b"not\xff\xfeutf8",
        b"x" * 254,
        b"sp ace",
        b"-rf",
        b"$(reboot)",
        b"a:b",
        b"%n,",
    ]
    folder = tmp_path / "hostile"
    (folder / "empty").mkdir(parents=True)
    for name in names:
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(name)
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(folder / "socket"))
    (folder / "circle").symlink_to("circle")
    (folder / "above").symlink_to("..")
    (folder / "secret").symlink_to("/etc")
    (folder / "inner").symlink_to("empty")
    ran = execute(
        *("--add", "hostile", "--get", "hostile:back", "--get", "none", "--"),
        *("sh", "-c", "cd hostile; mkfifo a-pipe; ln -s /etc out; cd ..; exit 3"),
    )
    assert ran.code == 3
    assert "--get /work/none: the guest has no such file at the program's end" in ran.stderr
    assert "left out `work/hostile/a-pipe`, which is a device, a pipe or a link that leads out" in ran.stderr
    back = {os.fsencode(path.name): path for path in (tmp_path / "back").iterdir()}
    assert back.keys() == {*names, b"empty", b"inner"}
    assert all(back[name].read_bytes() == name for name in names)
    assert os.readlink(back[b"inner"]) == "empty"  # noqa: PTH115 - as text
    (folder / ("x" * 255)).touch()
    assert "has more than 254 bytes: shorten it" in execute("--add", "hostile", "--", "true").stderr


def test_program_with_a_hostile_name_runs(execute: Exec, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    name = os.fsdecode(b'sp ace "q"\n\xff')
    compiled("#include <stdio.h>\nint main(int c, char** v) { puts(v[c - 1]); return 0; }").rename(tmp_path / name)
    ran = execute("--", f"./{name}", os.fsdecode(b"\xff\n'"))
    assert (ran.code, ran.stdout) == (0, b"\xff\n'\n")


def test_many_files_are_handed_over(execute: Exec, tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / "many" / str(folder)).mkdir(parents=True)
        for number in range(1000):
            (tmp_path / "many" / str(folder) / str(number)).touch()
    ran = execute("--no-misses", "--add", "many", "--", "sh", "-c", "ls many/19 | wc -l; ls many | wc -l")
    assert ran.stdout == b"1000\n20\n"


def test_files_larger_than_the_range_are_refused_before_they_are_copied(execute: Exec, tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    ran = execute("--add", "large", "--", "true")
    assert ran.code == 125
    assert "the program's files take 1099.5 GB, but at most 2.1 GB can be handed over" in ran.stderr


def _archive(path: Path, *members: tuple[str, bytes, dict[str, object]]) -> None:
    with tarfile.open(path, "w") as tar:
        for name, content, values in members:
            member = tarfile.TarInfo(name)
            for key, value in values.items():
                setattr(member, key, value)
            member.size = len(content)
            tar.addfile(member, BytesIO(content))


def test_hostile_archive_changes_only_the_guest(execute: Exec, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    _archive(
        tmp_path / "root.tar",
        ("../../up", b"up", {}),
        (str(outside), b"absolute", {}),
        ("dev/null", b"bad", {}),
        ("proc/version", b"bad", {}),
        (".s80lab/job", b"bad", {}),
        (".s80lab/stdin", b"bad", {}),
        ("out", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc"}),
    )
    ran = execute(
        "--rootfs", "root.tar", "--", "sh", "-c", "cat /up; cat; test -c /dev/null && ls /proc/self/fd/0", given=b"in"
    )
    assert ran.stdout.startswith(b"upin/proc/self/fd/0")
    assert not outside.exists()
    (tmp_path / "bad.tar").write_bytes((tmp_path / "root.tar").read_bytes()[:300] + bytes(range(256)) * 9)
    ran = execute("--rootfs", "bad.tar", "--", "true")
    assert (ran.code, len(ran.stderr.splitlines())) == (125, 1)
    assert re.search(r"unpack the archive and give its folder; the guest could not unpack it: tar: \w+", ran.stderr)


def test_function_of_an_archive_is_refused_with_the_remedy(execute: Exec, tmp_path: Path) -> None:
    """Where the guest's unpacked files lie in its memory is not known before."""
    _archive(tmp_path / "root.tar", ("bin/tool", b"", {}))
    ran = execute("--rootfs", "root.tar", "--per", "count", "--", "/bin/tool")
    assert (ran.code, len(ran.stderr.splitlines())) == (125, 1)
    assert "--per count: the guest unpacks the archive root.tar" in ran.stderr
    assert "unpack the archive (tar -xf) and give its folder to --rootfs, or use --markers" in ran.stderr


def test_links_of_a_root_do_not_lead_to_the_host(execute: Exec, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """A root without a shell whose folders are links to anywhere; its programs are checked before the guest begins."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "bin").mkdir(parents=True)
    outside.mkdir()
    for name in ("etc", "var", ".s80lab"):
        (root / name).symlink_to(outside)
    compiled('#include <stdio.h>\nint main(void) { puts("in"); return 0; }', "-static").rename(root / "bin" / "static")
    compiled("int main(void) { return 0; }").rename(root / "bin" / "dynamic")
    _program(root / "bin" / "arm64", _elf_header(2, 183))
    _program(root / "bin" / "script", b"#!/bin/none\n")
    ran = execute("--rootfs", "root", "--setup", "echo set-up", "--", "/bin/static")
    assert ran.stdout == b"in\n"
    assert "set-up\n" in ran.stderr
    assert not list(outside.iterdir())
    for name, code, sentence in (
        ("dynamic", 127, "the dynamic linker of"),
        ("arm64", 126, "the program is for AARCH64"),
        ("script", 127, "/bin/script cannot be used in the guest (No such file or directory)"),
    ):
        ran = execute("--rootfs", "root", "--", f"/bin/{name}")
        assert (ran.code, sentence in ran.stderr) == (code, True), ran.stderr


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--cwd", "/no/such"), 127, "the program's folder /no/such cannot be used in the guest"),
        (("--background", "echo why >&2; exit 3", "--ready", "99"), 125, "but ended with exit code 3"),
        (("--json", "no/such/folder"), 125, "no/such/folder: No such file or directory"),
    ],
)
def test_mistake_in_the_guest_ends_with_one_sentence(
    options: tuple[str, ...], code: int, sentence: str, execute: Exec
) -> None:
    ran = execute(*options, "--report", "report", "--", "true")
    assert ran.code == code
    assert sentence in ran.stderr
