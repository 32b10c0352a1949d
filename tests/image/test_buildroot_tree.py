# SPDX-License-Identifier: GPL-2.0-or-later
"""The external tree of disk-images/buildroot, read without Buildroot; its own checker where $BUILDROOT is set."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from s80lab.base.hashing import file_hash
from s80lab.base.paths import ROOT
from s80lab.config.server import load_server
from s80lab.image.files import read_lines

TREE = ROOT / "disk-images" / "buildroot"
FILES = sorted(path for path in TREE.rglob("*") if path.is_file())
PACKAGES = sorted(path.name for path in (TREE / "package").iterdir())
DEFCONFIG = TREE / "configs" / "s80lab_mail_defconfig"
KERNEL = TREE / "configs" / "kernel.fragment"
SYMBOLS = set(read_lines(Path(__file__).with_name("buildroot_symbols.txt")))
OWN = {f"BR2_PACKAGE_{name.upper().replace('-', '_')}" for name in PACKAGES}


def settings(text: str) -> list[str]:
    return re.findall(r"^(?:# )?(BR2_\w+)(?:=| is not set)", text, re.MULTILINE)


def test_external_tree_has_the_files_that_buildroot_requires() -> None:
    described = dict(line.split(": ", 1) for line in (TREE / "external.desc").read_text().splitlines())
    assert described["name"] == "S80LAB"
    assert len(described["desc"]) <= 50
    assert all((TREE / name).is_file() for name in ("external.mk", "Config.in"))


def test_files_named_in_the_external_tree_exist() -> None:
    """By `source`, `include` (there with wildcards) or a setting."""
    named = {
        place
        for path in FILES
        for place in re.findall(r"\$\(?BR2_EXTERNAL_S80LAB_PATH\)?/([\w./*-]+)", path.read_text())
    }
    assert len(named) >= 6
    assert [place for place in named if not list(TREE.glob(place)) and not (TREE / place).exists()] == []


def test_packages_of_the_external_tree_are_offered_and_described() -> None:
    sources = re.findall(r'^source ".*/package/([\w-]+)/Config\.in"$', (TREE / "Config.in").read_text(), re.MULTILINE)
    assert sources == PACKAGES
    for name in PACKAGES:
        recipe = (TREE / "package" / name / f"{name}.mk").read_text()
        assert re.search(r"^\$\(eval \$\((autotools|cmake)-package\)\)$", recipe, re.MULTILINE)
        prefix = name.upper().replace("-", "_")
        assert set(re.findall(r"^([A-Z0-9_]+?)_(?:VERSION|SITE|LICENSE|DEPENDENCIES) ", recipe, re.MULTILINE)) == {
            prefix
        }
        assert f"config BR2_PACKAGE_{prefix}\n" in (TREE / "package" / name / "Config.in").read_text()


@pytest.mark.parametrize("name", PACKAGES)
def test_whatever_is_fetched_has_its_hash(name: str) -> None:
    folder = TREE / "package" / name
    recipe = (folder / f"{name}.mk").read_text()
    hashes = {line.split()[2]: line.split()[1] for line in read_lines(folder / f"{name}.hash")}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes.values())
    licences = re.search(r"_LICENSE_FILES = (.*)", recipe)
    assert licences and set(licences[1].split()) <= hashes.keys()
    version = re.search(r"_VERSION = (\S+)", recipe)
    assert version and (f"{name}-{version[1]}.tar.gz" in hashes or "_SITE_METHOD = local" in recipe)


def test_licence_hash_of_the_guest_package_is_that_of_the_project() -> None:
    (line,) = read_lines(TREE / "package" / "s80lab-guest" / "s80lab-guest.hash")
    assert line.split()[1] == file_hash(ROOT / "LICENSE")


def test_options_of_the_external_tree_exist_in_buildroot() -> None:
    named = set(settings(DEFCONFIG.read_text() + KERNEL.read_text()))
    for name in PACKAGES:
        lines = (TREE / "package" / name / "Config.in").read_text()
        for clause in re.findall(r"^\t(?:depends on|select) .*(?:\\\n.*)?", lines, re.MULTILINE):
            named |= set(re.findall(r"BR2_\w+", clause))
    assert named - OWN == SYMBOLS
    assert named >= OWN


def test_options_of_the_external_tree_are_set_once() -> None:
    named = settings(DEFCONFIG.read_text() + KERNEL.read_text())
    assert len(named) == len(set(named))


def test_kernel_source_has_a_hash() -> None:
    version = re.search(r'^BR2_LINUX_KERNEL_CUSTOM_VERSION_VALUE="(6\.1\.\d+)"$', KERNEL.read_text(), re.MULTILINE)
    (line,) = read_lines(TREE / "patches" / "linux" / "linux.hash")
    assert version and line.split()[2] == f"linux-{version[1]}.tar.xz"
    assert re.fullmatch("[0-9a-f]{64}", line.split()[1])


def test_kernel_options_are_set_once_and_build_the_guest_modules() -> None:
    text = (TREE / "board" / "s80lab" / "linux.config").read_text()
    options = re.findall(r"^(?:# )?CONFIG_(\w+)(?:=(y|m)$| is not set$)", text, re.MULTILINE)
    assert len(options) == len(dict(options)) > 60
    remarks = [line for line in text.splitlines() if line.startswith("# ") and not line.endswith(" is not set")]
    assert len(options) + len(remarks) == len([line for line in text.splitlines() if line])
    modules = {Path(pattern).stem for pattern in read_lines(TREE / "keep.txt")}
    # configfs is chosen by null_blk, and a module as it is
    assert modules - {"configfs"} == {name.removeprefix("BLK_DEV_").lower() for name, value in options if value == "m"}
    # what the laboratory reads and the guest's init sets
    assert {"KALLSYMS_ALL", "DEBUG_INFO_BTF", "SCHEDSTATS", "DEBUG_FS", "KERNEL_LZ4"} <= {
        name for name, value in options if value == "y"
    }


def test_image_users_are_the_server_users_and_the_mail_owner() -> None:
    rows = [line.split() for line in read_lines(TREE / "board" / "s80lab" / "users.txt")]
    assert all(len(row) >= 9 and row[:2] == row[2:4] for row in rows)
    assert {row[0]: int(row[1]) for row in rows} == {**load_server("dovecot").users, "vmail": 5000}
    owner = (ROOT / "disk-images/common/rootfs/etc/passwd").read_text()
    assert "vmail:x:5000:5000:" in owner


def test_post_build_script_keeps_only_needed_files(tmp_path: Path) -> None:
    for name in ("usr/libexec/imap-login", "usr/libexec/imap", "bin/busybox", "etc/init.d/rcK"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "bin/sh").symlink_to("busybox")
    (tmp_path / "bin/ls").symlink_to("busybox")
    (tmp_path / "usr/bin").mkdir()
    (tmp_path / "usr/bin/awk").symlink_to("../../bin/busybox")
    for _ in range(2):  # Buildroot runs it whenever it goes on
        subprocess.run([str(TREE / "board/s80lab/post-build.sh"), str(tmp_path)], check=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert left == {
        "etc/ssl/certs/ca-certificates.crt",
        "usr/libexec/imap-login",
        "usr/libexec/imap",
        "usr/lib/dovecot/imap-login",
        "bin/busybox",
        "bin/sh",
    }
    assert (tmp_path / "usr/lib/dovecot/imap-login").resolve() == tmp_path / "usr/libexec/imap-login"


@pytest.mark.skipif(not os.environ.get("BUILDROOT"), reason="$BUILDROOT names no Buildroot, whose checker this runs")
def test_buildroots_own_checker_is_content() -> None:
    checker = Path(os.environ["BUILDROOT"]) / "utils" / "check-package"
    checked = [str(path) for path in FILES if path.suffix != ".txt"]
    result = subprocess.run([sys.executable, str(checker), "-b", *checked], capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in result.stderr:
        pytest.skip(f"Buildroot's checker needs a Python package: {result.stderr.splitlines()[-1]}")
    complaints = [line for line in result.stderr.splitlines() if line.startswith("/") and "'shellcheck'" not in line]
    assert complaints == []
