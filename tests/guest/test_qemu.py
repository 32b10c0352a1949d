# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding QEMU: missing, too old, broken, and the private one in its place."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.qemu import NAME, Qemu, describe_qemu, find_qemu, present_qemu
from s80lab.guest.qemu_unpack import STAMP, check_unpack, debian_codename


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


def find(folder: Path) -> Qemu:
    """find_qemu with a store and an older place of its own."""
    return find_qemu(folder / "store", folder / "older")


def answering(binary: Path, version: str) -> None:
    binary.parent.mkdir(parents=True, exist_ok=True)
    binary.write_text(f"#!/bin/sh\necho QEMU emulator version {version}\n")
    binary.chmod(0o755)


def fake_mmdebstrap(folder: Path, package: str, qemu: str) -> None:
    """A program that notes each call in `unpacked`, and unpacks a QEMU of this package and program version."""
    program = folder / "mmdebstrap"
    program.write_text(
        f"""#!/bin/sh
echo once >> {folder}/unpacked
[ ! -e {folder}/slow ] || sleep 1
for word; do
    case $word in
    --extract-hook=*) hook=${{word#--extract-hook=}} ;;
    */root) root=$word ;;
    esac
done
mkdir -p $root/usr/bin $root/var/cache/apt/archives
printf '#!/bin/sh\\necho QEMU emulator version {qemu}\\n' > $root/usr/bin/{NAME}
chmod +x $root/usr/bin/{NAME}
touch $root/var/cache/apt/archives/qemu-system-x86_{package}_amd64.deb
sh -c "$hook" exec $root
"""
    )
    program.chmod(0o755)


@pytest.fixture
def unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with an old QEMU on PATH, and a fake mmdebstrap that unpacks QEMU 10.0.0."""
    fake_qemu(tmp_path, "echo QEMU emulator version 7.2.0")
    fake_mmdebstrap(tmp_path, "1%3a10.0.0+ds-1", "10.0.0")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("S80LAB_QEMU", raising=False)
    return tmp_path


def test_missing_qemu_says_what_was_tried_and_what_to_do(bare: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"QEMU >= 9.2 was not found .*PATH: no qemu-system-x86_64.*mmdebstrap, which unpacks QEMU, is not",
    ):
        find(bare)


def test_too_old_a_qemu_is_named_with_its_version(bare: Path) -> None:
    fake_qemu(bare, "echo QEMU emulator version 9.1.9 '(Debian)'")
    with pytest.raises(UserError, match=r"PATH: .*qemu-system-x86_64 is version 9.1.9, which is too old"):
        find(bare)


def test_oldest_supported_qemu_is_found_on_the_path(bare: Path) -> None:
    binary = fake_qemu(bare, "echo QEMU emulator version 9.2.0")
    assert find(bare).binary == binary


def test_qemu_named_by_the_environment_is_used(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "mine").mkdir()
    binary = fake_qemu(bare / "mine", "echo QEMU emulator version 11.0.0")
    monkeypatch.setenv("S80LAB_QEMU", str(binary))
    assert find(bare).version == "11.0.0"


def test_qemu_that_does_not_start_is_refused(bare: Path) -> None:
    fake_qemu(bare, "echo no such library >&2; exit 127")
    with pytest.raises(UserError, match=r"does not print its version \(no such library\)"):
        find(bare)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (None, "cannot be started (No such file or directory)"),
        ("exit 1", "does not print its version (no output)"),
        ("echo QEMU emulator version 7.2.0", "is version 7.2.0, which is too old"),
    ],
)
def test_qemu_of_the_environment_that_cannot_be_used_is_an_error(
    unpacking: Path, monkeypatch: pytest.MonkeyPatch, says: str | None, why: str
) -> None:
    """Another QEMU would give other results than the user expects."""
    (unpacking / "mine").mkdir()
    binary = fake_qemu(unpacking / "mine", says) if says else unpacking / "mine" / NAME
    monkeypatch.setenv("S80LAB_QEMU", str(binary))
    expected = f"$S80LAB_QEMU: {binary} {why}; set S80LAB_QEMU to a {NAME} of version 9.2 or later, or unset it"
    for look in (find_qemu, present_qemu, describe_qemu):
        with pytest.raises(UserError, match=f"^{re.escape(expected)}$"):
            look(unpacking / "store", unpacking / "older")
    assert not (unpacking / "unpacked").exists()


def test_qemu_of_the_environment_may_be_a_name_on_the_path(unpacking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (unpacking / "qemu-mine").symlink_to(fake_qemu(unpacking, "echo QEMU emulator version 11.0.0"))
    monkeypatch.setenv("S80LAB_QEMU", "qemu-mine")
    assert find(unpacking).binary == unpacking / "qemu-mine"


def test_too_old_a_qemu_on_the_path_gives_way_to_the_private_one(unpacking: Path) -> None:
    assert present_qemu(unpacking / "store", unpacking / "older") is None
    assert find(unpacking).version == "10.0.0"
    assert present_qemu(unpacking / "store", unpacking / "older") == find(unpacking)


def test_two_processes_without_qemu_unpack_it_once(unpacking: Path) -> None:
    """The first time of a user in two shells."""
    (unpacking / "slow").touch()
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(find, [unpacking] * 2))
    assert [qemu.version for qemu in found] == ["10.0.0"] * 2
    assert (unpacking / "unpacked").read_text() == "once\n"


def test_qemu_of_the_user_serves_a_second_lab_without_a_second_download(unpacking: Path) -> None:
    first = find_qemu(unpacking / "store", unpacking / "lab-1" / "build" / "qemu")
    second = find_qemu(unpacking / "store", unpacking / "lab-2" / "build" / "qemu")
    assert first.prefix == second.prefix
    assert first.prefix is not None and first.prefix.parent == unpacking / "store"
    assert first.prefix.name == f"{check_unpack()}-10.0.0+ds-1"
    assert json.loads((first.prefix / STAMP).read_text()) == {
        "suite": check_unpack(),
        "packages": {"qemu-system-x86": "1:10.0.0+ds-1"},
    }
    assert (unpacking / "unpacked").read_text() == "once\n"


def test_qemu_that_an_earlier_version_unpacked_into_the_lab_is_used(unpacking: Path) -> None:
    answering(unpacking / "older" / "usr" / "bin" / NAME, "9.2.1")
    assert find(unpacking).version == "9.2.1"
    assert not (unpacking / "unpacked").exists()


def test_newer_of_two_private_qemus_is_used(unpacking: Path) -> None:
    find(unpacking)
    newer = unpacking / "store" / f"{check_unpack()}-10.1.0"
    answering(newer / "usr" / "bin" / NAME, "10.1.0")
    (newer / STAMP).write_text(json.dumps({"suite": check_unpack(), "packages": {}}))
    os.utime(newer / STAMP, (4e9, 4e9))
    assert find(unpacking).version == "10.1.0"


def test_private_qemu_without_stamp_is_not_used(unpacking: Path) -> None:
    answering(unpacking / "store" / f"{check_unpack()}-10.1.0" / "usr" / "bin" / NAME, "10.1.0")
    assert find(unpacking).version == "10.0.0"


def test_damaged_private_qemu_is_unpacked_again(unpacking: Path) -> None:
    found = find(unpacking)
    found.binary.write_text("#!/bin/sh\nexit 1\n")
    assert find(unpacking).version == "10.0.0"
    assert (unpacking / "unpacked").read_text() == "once\nonce\n"


def test_private_qemus_lie_in_the_data_folder_or_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("S80LAB_QEMU_FOLDER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert paths.qemus() == Path("/data/s80lab/qemu")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/root")
    assert paths.qemus() == Path("/root/.local/share/s80lab/qemu")
    monkeypatch.setenv("S80LAB_QEMU_FOLDER", "/opt/qemu")
    assert paths.qemus() == Path("/opt/qemu")


def test_store_that_cannot_be_written_is_named_with_the_variable(unpacking: Path) -> None:
    (unpacking / "store").write_text("a file")
    with pytest.raises(UserError, match=r"store cannot be written .* set S80LAB_QEMU_FOLDER to another folder"):
        find(unpacking)


def test_description_without_qemu_fetches_nothing_and_says_what_would_be_fetched(unpacking: Path) -> None:
    suite, store = check_unpack(), unpacking / "store"
    assert describe_qemu(store, unpacking / "older") == (
        "none yet; the first run fetches qemu-system-x86, qemu-system-data, seabios, ipxe-qemu "
        f"from {suite} (36 MB, 160 MB unpacked) into {store}"
    )
    assert not (unpacking / "unpacked").exists() and not store.exists()
    find(unpacking)
    assert describe_qemu(store, unpacking / "older").startswith(f"10.0.0 ({store}/")


def test_description_of_a_host_that_cannot_fetch_names_the_remedy(bare: Path) -> None:
    with pytest.raises(UserError, match=r"QEMU >= 9.2 was not found .*mmdebstrap, which unpacks QEMU, is not"):
        describe_qemu(bare / "store", bare / "older")


def test_host_without_debian_is_refused(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text('ID=fedora\nVERSION_ID="40"\n')
    with pytest.raises(UserError, match="this host does not run Debian"):
        debian_codename(tmp_path / "os-release")
