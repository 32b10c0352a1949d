# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of the image builder, each by itself and without a network."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.config.server import load_server
from s80lab.image import build, contents
from s80lab.image.build import ImageManifest, Made, build_image, image_folder, load_image, write_image
from s80lab.image.contents import COMMON, accounts_database
from s80lab.image.cpio import character_device, directory, regular, symlink, write_archive
from s80lab.image.files import kept_files
from s80lab.image.packages import Packages, debian_mirror, package_versions


def test_archive_unpacks_with_cpio(tmp_path: Path) -> None:
    entries = [
        regular("usr/bin/tool", b"#!/bin/sh\n", 0o755),
        symlink("bin", "usr/bin"),
        directory("tmp", 0o1777),
        character_device("dev/console", 5, 1),
    ]
    write_archive(entries, tmp_path / "archive")
    listing = ["cpio", "--list", "--verbose", "--numeric-uid-gid", "--quiet", "--file", str(tmp_path / "archive")]
    lines = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    modes = {line.split(" 1970 ")[1]: line.split()[0] for line in lines}
    assert modes == {
        "bin -> usr/bin": "lrwxrwxrwx",
        "dev": "drwxr-xr-x",
        "dev/console": "crw-------",
        "tmp": "drwxrwxrwt",
        "usr": "drwxr-xr-x",
        "usr/bin": "drwxr-xr-x",
        "usr/bin/tool": "-rwxr-xr-x",
    }
    assert {tuple(line.split()[2:4]) for line in lines} == {("0", "0")}


def test_equal_entries_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    entries = [regular("b", b"2"), regular("a/c", b"1")]
    write_archive(entries, tmp_path / "one")
    write_archive(reversed(entries), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_kept_programs_bring_their_libraries(tmp_path: Path) -> None:
    library = tmp_path / "root" / "usr" / "lib" / "libone.so.1"
    library.parent.mkdir(parents=True)
    (tmp_path / "root" / "lib64").mkdir()
    (tmp_path / "root" / "lib64" / "ld-linux-x86-64.so.2").write_bytes(b"")
    (tmp_path / "root" / "usr" / "bin").mkdir()
    link = ["gcc", "-xc", "-", "-xnone", "-nostdlib", "-Wl,--no-as-needed", "-o"]
    subprocess.run(
        [*link, str(library), "-shared", "-fPIC", "-Wl,-soname,libone.so.1"], input="int one(void){return 1;}",
        text=True, check=True,
    )  # fmt: skip
    subprocess.run(
        [*link, str(tmp_path / "root/usr/bin/program"), str(library), "-Wl,-e,main"],
        input="int one(void); int main(void){return one();}", text=True, check=True,
    )  # fmt: skip
    rules = {"usr/bin/program": "here"}
    paths = [entry.path for entry in kept_files(tmp_path / "root", rules)]
    assert paths == ["lib64/ld-linux-x86-64.so.2", "usr/bin/program", "usr/lib/libone.so.1"]
    library.unlink()
    with pytest.raises(UserError, match=r"libone\.so\.1, which programs in the image need: add their packages"):
        kept_files(tmp_path / "root", rules)


def test_keep_pattern_without_match_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^here: no file in the packages of the image matches the pattern 'usr/bin/absent'"
    ):
        kept_files(tmp_path, {"usr/bin/absent": "here"})


def test_versions_come_from_the_archives_names() -> None:
    names = ["libc6_2.36-9+deb12u14_amd64.deb", "opensmtpd_6.8.0p2-4+b4_amd64.deb", "partial", "tar_1%3a1.34_all.deb"]
    assert package_versions(names) == {"libc6": "2.36-9+deb12u14", "opensmtpd": "6.8.0p2-4+b4", "tar": "1:1.34"}


def test_debian_mirror_is_that_of_the_host() -> None:
    assert debian_mirror().startswith(("http://", "https://", "file:", "copy:", "mirror"))


def test_accounts_database_has_512_users(tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(accounts_database(tmp_path))
    with sqlite3.connect(tmp_path / "copy") as database:
        rows = database.execute("SELECT name, password FROM users ORDER BY name").fetchall()
    assert rows[0] == ("user001", "secret")
    assert rows[-1] == ("user512", "secret")
    assert len(rows) == 512


def test_accounts_database_is_independent_of_the_host_sqlite(tmp_path: Path) -> None:
    content = accounts_database(tmp_path)
    assert int.from_bytes(content[96:100], "big") == 3_040_001
    assert hashlib.sha256(content).hexdigest() == "54cd5e361f476c58b9bf66eb5361f55464f8b0f4f487ca78a01f32245483b190"


def test_shipped_certificate_is_p256_matches_its_key_and_is_valid_in_the_guest() -> None:
    folder = COMMON / "etc/tls"
    text = openssl("x509", "-noout", "-text", "-in", str(folder / "cert.pem"))
    assert "NIST CURVE: P-256" in text
    assert "CN = mail.s80.example" in text or "CN=mail.s80.example" in text
    assert "Not Before: Jan  1 00:00:00 2025 GMT" in text
    assert "Not After : Jan  1 00:00:00 2125 GMT" in text
    public = openssl("x509", "-noout", "-pubkey", "-in", str(folder / "cert.pem"))
    assert openssl("pkey", "-pubout", "-in", str(folder / "key.pem")) == public


def openssl(*words: str) -> str:
    return subprocess.run(["openssl", *words], check=True, capture_output=True, text=True).stdout


def test_absent_image_is_refused_with_remedy() -> None:
    with pytest.raises(UserError, match=r"manifest\.json is missing.*`s80lab image build`"):
        load_image(image_folder("absent", "dovecot"))
    with pytest.raises(UserError, match=r"manifest\.json is missing.*`s80lab image build --server uw`"):
        load_image(image_folder("absent", "uw"))


def test_missing_programs_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"s80-loadgen is missing: run `make build`"):
        build_image(tmp_path / "image", load_server("dovecot"), progress=print, binaries=tmp_path)


def test_stripped_removes_symbols_of_programs_only(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    jar, program = tmp_path / "one.jar", tmp_path / "one"
    jar.write_bytes(b"PK\x03\x04")
    subprocess.run(
        ["gcc", "-g", "-xc", "-", "-o", str(program)], input="int main(void){return 0;}", text=True, check=True
    )
    assert contents.stripped(jar, tmp_path / "work") == jar.read_bytes()
    assert contents.stripped(program, tmp_path / "work")[:4] == b"\x7fELF"
    assert len(contents.stripped(program, tmp_path / "work")) < program.stat().st_size


def test_changed_package_version_is_a_warning_with_remedy(tmp_path: Path) -> None:
    recorded = tmp_path / "versions.txt"
    recorded.write_text("# comment\nsame 1\nolder 1:2-3\ngone 4\n")
    packages = Packages(tmp_path, {"same": "1", "older": "1:2-4", "new": "5"})
    said: list[str] = []
    build._compare_versions(packages, recorded, False, said.append)
    assert len(said) == 3
    assert said[0].startswith("warning: gone has version none instead of the recorded 4: ")
    assert said[1].startswith("warning: new has version 5 instead of the recorded none: ")
    assert said[2].startswith("warning: older has version 1:2-4 instead of the recorded 1:2-3: ")
    assert all("`s80lab image build --refresh`" in line for line in said)
    build._compare_versions(packages, recorded, True, said.append)
    build._compare_versions(packages, recorded, False, said.append)
    assert len(said) == 3


@pytest.mark.parametrize(("name", "text"), [("initramfs.cpio", None), ("manifest.json", "{"), ("manifest.json", None)])
def test_image_with_missing_or_wrong_file_is_rebuilt(tmp_path: Path, name: str, text: str | None) -> None:
    """As the sentence that refuses it says."""
    kernel = tmp_path / "vmlinuz-6.1"
    kernel.touch()
    folder, server = tmp_path / "debian", load_server("dovecot")

    def again() -> ImageManifest:
        return write_image(folder, server.name, "inputs", lambda work, new: Made(kernel, [], {}), progress=print)

    made = again()
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(UserError, match=rf"no guest image in .* \({name} is .*\): run `s80lab image build`"):
        load_image(folder)
    assert again() == made == load_image(folder)
