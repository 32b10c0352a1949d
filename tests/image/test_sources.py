# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are built with the image, out of a source package: from a small archive of sources of our own, by the
machine's own apt."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.config.server import START, Built, load_server
from s80lab.image.contents import entries, inputs_digest
from s80lab.image.packages import build_programs, deb_src, unpack_source

CONTROL = """Source: toy
Maintainer: Nobody <nobody@s80.example>

Package: toy
Architecture: any
Description: a toy
"""
CHANGELOG = """toy (1.0) unstable; urgency=low

  * A toy.

 -- Nobody <nobody@s80.example>  Wed, 01 Jan 2025 00:00:00 +0000
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder with the source package `toy`, and the index that apt reads."""
    folder = tmp_path / "archive"
    tree = folder / "toy-1.0"
    (tree / "debian" / "source").mkdir(parents=True)
    (tree / "toy.c").write_text("int main(void) { return 7; }\n")
    (tree / "debian" / "control").write_text(CONTROL)
    (tree / "debian" / "changelog").write_text(CHANGELOG)
    (tree / "debian" / "source" / "format").write_text("3.0 (native)\n")
    subprocess.run(["dpkg-source", "--build", "toy-1.0"], cwd=folder, check=True, capture_output=True)
    index = subprocess.run(["dpkg-scansources", "."], cwd=folder, check=True, capture_output=True).stdout
    (folder / "Sources").write_bytes(index)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def line(archive: Path) -> str:
    return f"deb-src [trusted=yes] file:{archive} ./"


def toy(folder: Path, script: str, *programs: str) -> Built:
    (folder / "build").write_text(script)
    return Built("toy", folder / "build", programs or ("toy",), ())


def test_program_is_built_from_the_source_package(archive: Path, work: Path, tmp_path: Path) -> None:
    out = build_programs(toy(tmp_path, 'gcc -o "$2/toy" "$1/toy.c"\n'), line(archive), work)
    assert subprocess.run([out / "toy"], check=False).returncode == 7


def test_changed_source_archive_is_refused(archive: Path, work: Path) -> None:
    tarball = archive / "toy_1.0.tar.xz"
    tarball.write_bytes(tarball.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match=r"^Debian's source package toy cannot be fetched: E: [^\n]*$"):
        unpack_source("toy", line(archive), work)


def test_unknown_source_package_is_refused(archive: Path, work: Path) -> None:
    with pytest.raises(UserError, match=r"^Debian's source package doll cannot be fetched: E: .*doll"):
        unpack_source("doll", line(archive), work)


def test_failed_build_script_is_reported_with_its_message(archive: Path, work: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"build failed: no such luck$"):
        build_programs(toy(tmp_path, "echo no such luck >&2; exit 1\n"), line(archive), work)


def test_program_that_was_not_built_is_named(archive: Path, work: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"build ended without building doll"):
        build_programs(toy(tmp_path, 'gcc -o "$2/toy" "$1/toy.c"\n', "toy", "doll"), line(archive), work)


def test_source_line_uses_the_sources_of_the_host() -> None:
    assert deb_src("bookworm").startswith("deb-src [signed-by=/")
    assert deb_src("bookworm").endswith(" bookworm main")


def test_inputs_of_the_build_script_change_the_image_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "SERVERS", tmp_path)
    (tmp_path / "plain" / "rootfs" / START).parent.mkdir(parents=True)
    (tmp_path / "plain" / "rootfs" / START).write_text("")
    (tmp_path / "plain" / "toy.c").write_text("one")
    (tmp_path / "plain.toml").write_text('description = "plain"\nstore = "none"\nprograms = ["toy"]\n')
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "build").write_text("")
    slow = 'description = "slow"\nbase = "plain"\nsource = "toy"\nprograms = ["toy"]\n'
    (tmp_path / "slow.toml").write_text(slow)
    binaries = paths.BIN  # which has no toy
    assert load_server("plain").built is None
    with pytest.raises(UserError, match="toy is missing"):
        inputs_digest(load_server("plain"), binaries)
    before = inputs_digest(load_server("slow"), binaries)
    (tmp_path / "plain" / "README.md").write_text("of the toy")
    assert inputs_digest(load_server("slow"), binaries) == before
    (tmp_path / "plain" / "toy.c").write_text("two")
    assert inputs_digest(load_server("slow"), binaries) != before


def test_built_program_is_packed_with_its_symbols(tmp_path: Path) -> None:
    server = load_server("uw-O0")
    assert server.built is not None and server.built.package == "uw-imap"
    (tmp_path / "built").mkdir()
    for name in server.built.programs:
        (tmp_path / "built" / name).write_bytes(name.encode())
    for name in ("s80-loadgen", "s80-mailstore"):
        (tmp_path / name).write_bytes(b"no program")
    programs = ("bin/busybox", "usr/sbin/smtpd", "usr/libexec/opensmtpd/mail.mda")
    for path in (*programs, "lib/modules/6/kernel/drivers/block/null_blk/null_blk.ko"):
        (tmp_path / "root" / path).parent.mkdir(parents=True)
        (tmp_path / "root" / path).write_bytes(b"")
    (tmp_path / "root/lib/modules/6/kernel/fs/configfs").mkdir(parents=True)
    (tmp_path / "root/lib/modules/6/kernel/fs/configfs/configfs.ko").write_bytes(b"")
    found = {
        entry.path: entry.data for entry in entries(server, tmp_path / "root", tmp_path, tmp_path, tmp_path / "built")
    }
    assert found["usr/bin/s80-uw-imapd"] == b"s80-uw-imapd"
    assert found["usr/bin/s80-loadgen"] == b"no program"
