# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's own Buildroot, where there is one: the whole image, and a run on it.

$BUILDROOT: its sources. $BUILDROOT_DOWNLOADS and $BUILDROOT_FRAGMENT, where they are set: a folder with all that it
would fetch, and files of options over the image's own, `:` between them (a toolchain that is there already, a kernel).
The first time is long.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.config.server import load_server
from s80lab.image.build import ImageManifest, image_folder
from s80lab.image.buildroot.image import BILL, Choice
from s80lab.image.choice import make_image
from s80lab.image.contents import PROGRAMS
from s80lab.image.cpio import read_archive
from s80lab.results.run_folder import RunFolder

pytestmark = pytest.mark.skipif(not os.environ.get("BUILDROOT"), reason="$BUILDROOT names no Buildroot")
FOLDER = image_folder("buildroot", "dovecot")


def named(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None


@pytest.fixture(scope="module")
def manifest() -> ImageManifest:
    fragments = filter(None, os.environ.get("BUILDROOT_FRAGMENT", "").split(":"))
    choice = Choice(None, named("BUILDROOT_DOWNLOADS"), tuple(map(Path, fragments)))
    return make_image("buildroot", "dovecot", choice, progress=print)


def test_buildroot_image_holds_the_servers_and_is_small(manifest: ImageManifest) -> None:
    assert {"busybox", "dovecot", "libopenssl", "opensmtpd", "s80lab-guest", "sqlite"} <= manifest.packages.keys()
    assert manifest.initramfs_bytes < 36e6
    names = {entry.path for entry in read_archive(FOLDER / "initramfs.cpio")}
    assert {f"usr/bin/{name}" for name in PROGRAMS} | set(load_server("dovecot").files()) <= names


def test_buildroot_image_has_its_bill_of_materials(manifest: ImageManifest) -> None:
    assert all((FOLDER / name.replace("licenses", "licences")).exists() for name in BILL)
    listed = (FOLDER / "manifest.csv").read_text()
    assert '"opensmtpd"' in listed and '"s80lab-guest"' in listed
    assert json.loads((FOLDER / "packages.json").read_text())["dovecot"]["licenses"]


def test_run_on_the_buildroot_image_has_no_errors(manifest: ImageManifest, lab: Lab) -> None:
    before = set(lab.runs())
    lab.run_tiny("imapb", "--seeds", "1", "--image", "buildroot")
    (run,) = set(lab.runs()) - before
    said = RunFolder(run).manifest
    assert said["image"] == "buildroot" and said["inputs"]["initramfs"] == manifest.initramfs_sha256
    load = RunFolder(run).load
    assert load is not None and not any(load["errors"].values()) and load["totals"]["count"] > 0
