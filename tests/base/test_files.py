# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a user names: complete or absent, no device is replaced, and no link of another user is followed. Files
that are still being written."""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import create_file, read_regular, whole, write_file
from s80lab.base.follow import Follower, tail
from s80lab.trace import files

TRACE = str(paths.LESSONS / "migratory.trace")


def write(path: Path, content: bytes = b"content") -> None:
    with whole(path) as partial:
        partial.write_bytes(content)


@pytest.fixture
def device(tmp_path: Path) -> Callable[[str], Path]:
    """Copies of /dev/null and /dev/full: a defect must not destroy the host's own devices."""

    def make(name: str) -> Path:
        path = tmp_path / name
        try:
            if not path.exists():
                os.mknod(path, 0o666 | stat.S_IFCHR, Path("/dev", name).stat().st_rdev)
            path.open("wb").close()
        except PermissionError:
            pytest.skip("only root can make devices")
        return path

    return make


def test_whole_writes_file_with_the_users_permissions_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write(path)
    mask = os.umask(0)
    os.umask(mask)
    assert path.read_bytes() == b"content" and stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert list(path.parent.iterdir()) == [path]


def test_whole_failed_block_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write(path, b"old")

    def fail() -> None:
        with whole(path) as partial:
            partial.write_bytes(b"half")
            raise UserError("failed")

    with pytest.raises(UserError, match="failed"):
        fail()
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from pathlib import Path
from s80lab.base.files import whole
with whole(Path(sys.argv[1])) as partial:
    partial.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_whole_removes_what_a_killed_call_left(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write(path, b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=LIMIT_S)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 2
    with whole(path) as partial:
        partial.write_bytes(b"new")
        write(tmp_path / "other")
        assert partial.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 3
    assert path.read_bytes() == b"new" and set(tmp_path.iterdir()) == {path, tmp_path / "other"}


def test_write_file_writes_text_in_utf8_and_bytes(tmp_path: Path) -> None:
    write_file(tmp_path / "text", "± 2\n")
    write_file(tmp_path / "bytes", b"\xff")
    assert (tmp_path / "text").read_bytes() == b"\xc2\xb1 2\n" and (tmp_path / "bytes").read_bytes() == b"\xff"


def test_whole_does_not_follow_links_beside_the_target(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "page.html"
    victim.write_bytes(b"precious")
    (tmp_path / "page.html.partial").symlink_to(victim)
    write(path)
    assert victim.read_bytes() == b"precious" and path.read_bytes() == b"content" and not path.is_symlink()
    path.unlink()
    path.symlink_to(victim)
    write(path)
    assert victim.read_bytes() == b"precious" and path.read_bytes() == b"content" and not path.is_symlink()


def test_whole_pipe_receives_the_content_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    write(path)
    reader.join()
    assert received == [b"content"] and path.is_fifo() and list(tmp_path.iterdir()) == [path]


def test_whole_device_stays_a_device(device: Callable[[str], Path]) -> None:
    write(device("null"))
    assert device("null").is_char_device()
    with pytest.raises(UserError, match=r"full: cannot be written \(No space left on device\)"):
        write(device("full"), b"x" * 100_000)
    assert device("full").is_char_device()


@pytest.mark.parametrize("bad", ["nul\0", "x" * 300])
def test_whole_impossible_name_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        write(tmp_path / bad)
    with pytest.raises(UserError, match=r"cannot be written \(Is a directory\)"):
        write(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "step", TRACE, "--html"),
        ("trace", "export", TRACE, "--format", "text", "--out"),
        ("lesson", "--html"),
        ("protocol", "show", "msi", "--svg"),
    ],
)
def test_commands_device_as_output_stays_a_device(
    tmp_path: Path, device: Callable[[str], Path], words: tuple[str, ...]
) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert str(device("null")) in lab.call(*words, str(device("null")))
    assert device("null").is_char_device()
    assert "Is a directory" in lab.call(*words, str(tmp_path), code=2)


def test_export_to_stdout_in_a_file_precedes_the_commands_own_lines(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    said = lab.call("trace", "export", TRACE, "--format", "text", "--out", "/dev/stdout")
    assert said.startswith("# Migratory sharing: ") and "accesses in 1 file: /dev/stdout" in said
    assert Path("/dev/stdout").is_symlink()


def test_read_bounds_memory_of_compressed_files(tmp_path: Path) -> None:

    most = 1 << 20
    for name, packed in (
        ("x.gz", gzip.compress(bytes(most + 1))),
        ("x.xz", lzma.compress(bytes(most + 1))),
        ("x", bytes(most + 1)),
    ):
        path = tmp_path / name
        path.write_bytes(packed)
        assert files.head(path, 4) == bytes(4)
        with pytest.raises(UserError, match="contains more than 1 MiB, the limit for this format"):
            files.read(path, most)
        assert len(files.read(path, most + 1)) == most + 1


def test_read_several_streams_and_padding_of_xz(tmp_path: Path) -> None:

    path = tmp_path / "x.xz"
    path.write_bytes(lzma.compress(b"one ") + bytes(8) + lzma.compress(b"two"))
    assert files.read(path) == b"one two"


def test_created_file_never_replaces_another(tmp_path: Path) -> None:
    create_file(tmp_path / "a" / "b" / "new", "text")
    assert (tmp_path / "a" / "b" / "new").read_text() == "text"
    for there in (tmp_path / "a" / "b" / "new", tmp_path / "link"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to("nowhere")
        with pytest.raises(FileExistsError):
            create_file(there, "other")
    assert (tmp_path / "a" / "b" / "new").read_text() == "text"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "link", "new"]


def test_file_is_created_where_no_hard_links_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    create_file(tmp_path / "new", "text")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "new", "other")
    assert (tmp_path / "new").read_text() == "text"


def test_file_that_cannot_be_created_leaves_no_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        create_file(tmp_path / "a" / "b" / ("n" * 300), "text")
    assert list(tmp_path.iterdir()) == []


def test_read_regular_accepts_only_regular_files_of_bounded_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert read_regular(tmp_path / "file", 4) == b"text"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, most, reason in (
        ("file", 3, "is larger than 0 KiB"),
        ("pipe", 9, "is a pipe or a device, not a file; name another file"),
        ("zero", 9, "is a pipe or a device, not a file"),
        (".", 9, "is a folder, not a file"),
        ("absent", 9, "cannot be read .No such file or directory."),
    ):
        with pytest.raises(UserError, match=reason):
            read_regular(tmp_path / name, most)


def test_follower_gives_complete_lines_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = Follower(path)
    assert follower.lines() == []
    path.write_bytes(b"one\r\ntw")
    assert follower.lines() == ["one"]
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert follower.lines() == ["two", "three"]
    assert follower.lines() == []


def test_tail_gives_the_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n\n" for number in range(9)))
    assert tail(path, 2) == "\n  | line 7\n  | line 8"
    assert tail(tmp_path / "absent") == "\n  | (nothing)"
