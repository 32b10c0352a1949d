# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab exec`: a program in the guest behaves as on the host, and its counts are repeatable."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.results.snapshots import Snapshots

pytestmark = pytest.mark.guest

# Eight threads add to one counter; each prints nothing.
COUNTER = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_long counter;
static void* add(void* p) { for (int i = 0; i < 20000; ++i) atomic_fetch_add(&counter, 1); return p; }
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; ++i) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 4; ++i) pthread_join(t[i], 0);
    printf("%ld\\n", atomic_load(&counter));
    return 7;
}
"""
# Prints all byte values, many times, on both streams.
BYTES = """
#include <unistd.h>
int main(void) {
    unsigned char all[256];
    for (int i = 0; i < 256; ++i) all[i] = (unsigned char)i;
    for (int i = 0; i < 4096; ++i) if (write(1, all, 256) != 256 || write(2, all, 128) != 128) return 1;
    return 0;
}
"""


def _values(run: Exec, name: str = "last") -> bytes:
    return (run.result(name) / "boot-1-seed-1" / "snapshots.jsonl").read_bytes()


def test_program_prints_and_ends_as_on_the_host(execute: Exec, compiled: Callable[..., Path]) -> None:
    ran = execute(str(compiled(COUNTER)))
    assert (ran.code, ran.stdout) == (7, b"80000\n")
    assert "exit code 7" in ran.stderr
    assert "lines of 64 bytes" in ran.stderr


def test_misses_that_the_last_level_cache_services_have_a_source_of_their_own(
    execute: Exec, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    program = str(compiled(COUNTER))
    llc = ("llc.size=4MiB", "llc.ways=16", "llc.slices=2", "latency.llc=20")
    options = ("--protocol", "mesi-llc", *(word for setting in llc for word in ("--set", setting)))
    sides = []
    for name, more in (("without", ("--protocol", "mesi")), ("with", options)):
        ran = execute("--name", name, "--json", str(tmp_path / name), *more, program)
        assert (ran.code, "4 MB LLC" in ran.stderr) == (7, name == "with")
        sides.append(json.loads((tmp_path / name).read_text())["counts"]["all"])
    without, with_llc = sides
    assert "llc" not in without["misses"] and with_llc["misses"]["llc"] > 1000
    assert all(sum(side["misses"].values()) == side["l2_misses"] for side in sides)


def test_output_arrives_unchanged(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    ran = execute("--report", str(tmp_path / "report"), str(compiled(BYTES)))
    assert ran.code == 0
    assert ran.stdout == bytes(range(256)) * 4096
    assert ran.stderr.encode("utf-8", "surrogateescape").count(b"\x01") == 4096
    assert "instructions" in (tmp_path / "report").read_text()


def test_two_executions_give_the_same_counts(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """From another folder, and with another environment of the host."""
    program = compiled(COUNTER)
    execute("--name", "one", str(program))
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    (elsewhere / "program").write_bytes(program.read_bytes())
    (elsewhere / "program").chmod(0o755)
    Exec(execute.lab, elsewhere)("--name", "two", "./program", LANG="de_DE.UTF-8", EXTRA="x" * 999)
    assert _values(execute, "one") == _values(execute, "two")
    execute("--name", "three", "--seeds", "2", str(program))
    three = (execute.result("three") / "boot-1-seed-2" / "snapshots.jsonl").read_bytes()
    assert _values(execute, "one") != three


def test_names_do_not_change_the_counts(execute: Exec, compiled: Callable[..., Path]) -> None:
    program = compiled(COUNTER)
    for name, option in (("bare", "--no-misses"), ("plain", "--no-heap"), ("heap", "--heap")):
        execute("--name", name, option, str(program))
    assert _values(execute, "bare") == _values(execute, "plain") == _values(execute, "heap")


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_exit_code_is_that_of_the_program(command: str, code: int, execute: Exec) -> None:
    assert execute("--", "sh", "-c", command).code == code


def test_missing_program_has_exit_code_127(execute: Exec) -> None:
    ran = execute("--", "no-such-program-anywhere")
    assert ran.code == 127
    assert "no folder of $PATH has a program with this name" in ran.stderr


def test_file_without_execute_permission_has_exit_code_126(execute: Exec, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("data")
    ran = execute("--", "./data")
    assert ran.code == 126
    assert "chmod +x ./data" in ran.stderr


def test_stdin_files_environment_and_results_are_handed_over(execute: Exec, tmp_path: Path) -> None:
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "sub" / "input.txt").write_text("from the host\n")
    command = 'cat; cat project/sub/input.txt; echo "$NAME"; mkdir out; echo result > out/file; id -u'
    options = ("--add", "project", "--env", "NAME=value", "--get", "out", "--run-as", "0")
    ran = execute(*options, "--", "sh", "-c", command, given=b"from stdin\n")
    assert ran.stdout == b"from stdin\nfrom the host\nvalue\n0\n"
    assert (tmp_path / "out" / "file").read_text() == "result\n"


def test_environment_of_the_host_does_not_enter_the_guest(execute: Exec) -> None:
    assert b"SECRET" not in execute("--", "env", SECRET="x").stdout


def test_guest_has_what_programs_expect(execute: Exec) -> None:
    command = (
        "test -e /proc/self/maps && test -d /sys/class && test -w /dev/shm && test -c /dev/ptmx && test -w /tmp &&"
        " ping -c 1 127.0.0.1 > /tmp/out && nproc"
    )
    assert execute("--", "sh", "-c", command).stdout == b"8\n"


def test_setup_and_warmup_come_before_the_region(execute: Exec) -> None:
    ran = execute(
        "--setup", "echo 0 > /tmp/n", "--warmup", "2", "--", "sh", "-c", "n=$(cat /tmp/n); echo $((n + 1)) | tee /tmp/n"
    )
    assert ran.stdout == b"3\n"
    assert "1\n2\n" in ran.stderr


def test_failed_setup_ends_the_run(execute: Exec) -> None:
    ran = execute("--setup", "exit 9", "--", "true")
    assert ran.code == 125
    assert "--setup: the command failed with exit code 9" in ran.stderr
    assert not execute.result().exists()


def test_background_command_serves_the_program(execute: Exec) -> None:
    ran = execute(
        "--background",
        "nc -l -p 99 -e cat",
        "--ready",
        "/dev/null",
        "--",
        "sh",
        "-c",
        "sleep 0.01; echo hello | nc 127.0.0.1 99",
    )
    assert ran.stdout == b"hello\n"


def test_root_of_the_user_is_the_root(execute: Exec, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    static = compiled('#include <stdio.h>\nint main(void) { puts("in a root"); return 0; }', "-static")
    root = tmp_path / "root"
    (root / "opt" / "own").mkdir(parents=True)
    os.link(static, root / "opt" / "own" / "tool")
    assert execute("--rootfs", "root", "--", "/opt/own/tool").stdout == b"in a root\n"
    with tarfile.open(tmp_path / "root.tar", "w") as tar:
        tar.add(root, ".")
    assert execute("--rootfs", "root.tar", "--", "/opt/own/tool").stdout == b"in a root\n"


def test_archive_cannot_write_to_the_host(execute: Exec, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "odd.tar", "w") as tar:
        member = tarfile.TarInfo("../outside")
        member.size = 5
        tar.addfile(member, BytesIO(b"hello"))
    execute("--rootfs", "odd.tar", "--", "true")
    assert not (tmp_path / "outside").exists()
    assert not list(tmp_path.rglob("outside"))


def test_simulated_timeout_ends_a_program_that_hangs(execute: Exec) -> None:
    ran = execute("--simulated-timeout", "0.02", "--", "sh", "-c", "echo begun; while :; do :; done")
    assert (ran.code, ran.stdout) == (137, b"begun\n")
    assert "--simulated-timeout" in ran.stderr


def test_timeout_of_the_host_keeps_what_was_measured(execute: Exec, tmp_path: Path) -> None:
    ran = execute("--timeout", "5", "--json", "out.json", "--", "sh", "-c", "echo begun; while :; do :; done")
    assert (ran.code, ran.stdout) == (137, b"begun\n")
    assert "INTERRUPTED by --timeout" in ran.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["complete"] is False
    assert report["counts"]["all"]["instructions"] > 1_000_000


def test_processors_and_settings_reach_the_machine(execute: Exec) -> None:
    ran = execute("--processors", "3", "--set", "l2.size=2MiB", "--set", "line_bytes=128", "--", "nproc")
    assert ran.stdout == b"3\n"
    assert "3 processors at 1 GHz, lines of 128 bytes, 32 KB L1s, 2 MB private L2s" in ran.stderr
    assert Snapshots.read(execute.result() / "boot-1-seed-1" / "snapshots.jsonl").header.cores == 3
