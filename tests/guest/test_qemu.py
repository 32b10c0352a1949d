# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding QEMU: missing, too old, broken, and the private one in its place."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.qemu import NAME, find_qemu
from s80lab.guest.qemu_unpack import debian_codename


def fake_qemu(folder: Path, says: str) -> Path:
    binary = folder / NAME
    binary.write_text(f"#!/bin/sh\n{says}\n")
    binary.chmod(0o755)
    return binary


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is nothing at all, not even mmdebstrap."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("S80LAB_QEMU", raising=False)
    return tmp_path


def test_missing_qemu_says_what_was_tried_and_what_to_do(bare: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"QEMU >= 9.2 was not found .*PATH: no qemu-system-x86_64.*mmdebstrap, which unpacks QEMU, is not",
    ):
        find_qemu(bare / "private")


def test_too_old_a_qemu_is_named_with_its_version(bare: Path) -> None:
    fake_qemu(bare, "echo QEMU emulator version 9.1.9 '(Debian)'")
    with pytest.raises(UserError, match=r"PATH: .*qemu-system-x86_64 is version 9.1.9, which is too old"):
        find_qemu(bare / "private")


def test_the_oldest_good_qemu_is_taken_from_the_path(bare: Path) -> None:
    binary = fake_qemu(bare, "echo QEMU emulator version 9.2.0")
    assert find_qemu(bare / "private").binary == binary


def test_the_environment_names_a_qemu(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "mine").mkdir()
    binary = fake_qemu(bare / "mine", "echo QEMU emulator version 11.0.0")
    monkeypatch.setenv("S80LAB_QEMU", str(binary))
    assert find_qemu(bare / "private").version == "11.0.0"


def test_a_qemu_that_does_not_start_is_named(bare: Path) -> None:
    fake_qemu(bare, "echo no such library >&2; exit 127")
    with pytest.raises(UserError, match=r"does not print its version \(no such library\)"):
        find_qemu(bare / "private")


def test_too_old_a_qemu_gives_way_to_the_private_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_QEMU", str(fake_qemu(tmp_path, "echo QEMU emulator version 7.2.0")))
    found = find_qemu()
    assert found.binary != tmp_path / NAME
    if found.prefix is not None:
        assert found.prefix == paths.BUILD / "qemu"


def test_two_that_need_it_unpack_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time of a checkout in two shells."""
    fake_qemu(tmp_path, "echo QEMU emulator version 7.2.0")
    unpacks = tmp_path / "mmdebstrap"
    unpacks.write_text(
        f"""#!/bin/sh
echo once >> {tmp_path}/unpacked
sleep 1
for word; do
    case $word in */root)
        mkdir -p $word/usr/bin
        printf '#!/bin/sh\\necho QEMU emulator version 10.0.0\\n' > $word/usr/bin/{NAME}
        chmod +x $word/usr/bin/{NAME} ;;
    esac
done
"""
    )
    unpacks.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("S80LAB_QEMU", raising=False)
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(find_qemu, [tmp_path / "private"] * 2))
    assert [qemu.version for qemu in found] == ["10.0.0"] * 2
    assert (tmp_path / "unpacked").read_text() == "once\n"


def test_another_system_than_debian_is_refused(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text('ID=fedora\nVERSION_ID="40"\n')
    with pytest.raises(UserError, match="this host does not run Debian"):
        debian_codename(tmp_path / "os-release")
