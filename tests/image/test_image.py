# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole image, built from this machine's package mirror (some seconds)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from s80lab.config.server import load_server
from s80lab.image.build import ImageManifest, build_image, load_image
from s80lab.image.contents import PROGRAMS, overlay

SERVER = load_server("dovecot")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image") / "debian"
    build_image(folder, SERVER, progress=print)
    return folder


@pytest.fixture(scope="module")
def tree(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The initramfs unpacked, its device node aside (that would need root)."""
    root = tmp_path_factory.mktemp("tree")
    unpack = ["cpio", "-id", "--quiet", "--no-preserve-owner", "-f", "dev/console"]
    with (image / "initramfs.cpio").open("rb") as archive:
        subprocess.run(unpack, check=True, stdin=archive, cwd=root)
    return root


def test_manifest_names_kernel_and_servers(image: Path) -> None:
    manifest = load_image(image)
    assert manifest.kernel_version.endswith("cloud-amd64")
    servers = {"dovecot-imapd", "dovecot-lmtpd", "dovecot-sqlite", "opensmtpd"}
    assert servers <= manifest.packages.keys()


def test_debian_image_is_small(image: Path) -> None:
    assert load_image(image).initramfs_bytes < 40e6


def test_image_has_only_programs_libraries_and_settings(tree: Path) -> None:
    assert not any((tree / path).exists() for path in ("usr/share", "var/lib/dpkg", "boot"))
    assert {path.name for path in (tree / "lib/modules").rglob("*") if path.is_file()} == {"configfs.ko", "null_blk.ko"}


def test_common_files_are_there_and_init_can_be_executed(tree: Path) -> None:
    for name, file in overlay(SERVER).items():
        assert (tree / name).read_bytes().startswith(file.content)
    assert (tree / "init").stat().st_mode & 0o111


def test_program_libraries_are_all_found(tree: Path) -> None:
    loader = tree / "lib64" / "ld-linux-x86-64.so.2"
    paths = ":".join(str(tree / folder) for folder in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"))
    for program in ("usr/sbin/dovecot", "usr/lib/dovecot/imap", "usr/lib/dovecot/auth", "usr/sbin/smtpd"):
        library_path = f"{paths}:{tree}/usr/lib/dovecot"
        command = [str(loader), "--library-path", library_path, "--list", str(tree / program)]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert "not found" not in listing


def test_loader_and_library_are_of_the_images_libc6(image: Path, tree: Path) -> None:
    """Whatever Debian the builder runs: the dynamic linker of another C library ends every server at its start."""
    version = load_image(image).packages["libc6"]
    said = subprocess.run(
        [tree / "lib64/ld-linux-x86-64.so.2", "--version"], check=True, capture_output=True, text=True
    )
    assert f"(Debian GLIBC {version})" in said.stdout
    (library,) = tree.glob("**/x86_64-linux-gnu/libc.so.6")
    assert f"(Debian GLIBC {version})".encode() in library.read_bytes()


def test_project_programs_are_statically_linked(tree: Path) -> None:
    """Compiled on the host, which may be of another suite: no dynamic linker, no library."""
    for name in PROGRAMS:
        headers = ["readelf", "--wide", "--program-headers", "--dynamic", str(tree / "usr/bin" / name)]
        said = subprocess.run(headers, check=True, capture_output=True, text=True).stdout
        assert "LOAD" in said
        assert "INTERP" not in said
        assert "NEEDED" not in said


def test_private_key_is_readable_by_the_server_only(image: Path) -> None:
    command = ["cpio", "--list", "--verbose", "--quiet", "--file", str(image / "initramfs.cpio"), "etc/tls/key.pem"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.startswith("-rw------- ")


def test_image_with_equal_inputs_is_not_rebuilt(image: Path) -> None:
    before = (image / "initramfs.cpio").stat().st_mtime_ns
    said: list[str] = []
    manifest = build_image(image, SERVER, progress=said.append)
    assert said == ["image: up to date"]
    assert isinstance(manifest, ImageManifest)
    assert (image / "initramfs.cpio").stat().st_mtime_ns == before


def test_image_build_leaves_only_the_lock_file(image: Path) -> None:
    assert sorted(path.name for path in image.parent.iterdir()) == [".debian-lock", "debian"]


def test_image_build_removes_remains_of_a_killed_build(image: Path) -> None:
    leavings = image.parent / ".debian-new" / "root"
    leavings.mkdir(parents=True)
    build_image(image, SERVER, progress=print)
    assert not leavings.parent.exists()
