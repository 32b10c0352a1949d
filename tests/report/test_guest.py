# SPDX-License-Identifier: GPL-2.0-or-later
"""A report says of which guest it is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.analysis.groups import read_groups
from s80lab.report.guest import guest_notes, guests_of_page, packages_hash
from s80lab.report.terminal import print_groups
from s80lab.report.write import write_experiment_report

PACKAGES = {
    "dovecot-core": "1:2.3.19.1",
    "libc6": "2.36-9",
    "libssl3": "3.0.20-1",
    "opensmtpd": "6.8.0p2-4",
}
VERSIONS = {"s80lab": "0.1.0", "qemu": "10.0.2", "kernel": "6.1.0-50-cloud-amd64", **PACKAGES}


@pytest.fixture
def folders(runs: Path) -> list[Path]:
    """Two seeds of each mix, all of one guest."""
    folders = sorted(runs.glob("imap?-[12]"))
    for folder in folders:
        rewrite(folder, VERSIONS)
    return folders


def rewrite(folder: Path, versions: dict[str, str], image: str = "0123456789abcdef") -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"versions": versions, "inputs": {**manifest["inputs"], "initramfs": image}}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_single_guest_is_one_sentence_on_page_and_terminal(folders: list[Path], tmp_path: Path) -> None:
    (line,) = guest_notes(read_groups(folders))
    assert line == (
        "Guest: Linux 6.1.0-50-cloud-amd64, Dovecot 1:2.3.19.1, OpenSMTPD 6.8.0p2-4, OpenSSL 3.0.20-1, glibc 2.36-9, "
        f"packages {packages_hash(PACKAGES)}, image 0123456789ab; under QEMU 10.0.2."
    )
    assert line in write_experiment_report("both", folders, tmp_path / "report").read_text(encoding="utf-8")
    text = io.StringIO()
    print_groups(read_groups(folders), Console(file=text, width=400))
    assert line in text.getvalue()


def test_different_guests_are_named_with_their_groups(folders: list[Path]) -> None:
    for folder in folders[2:]:
        rewrite(folder, VERSIONS | {"libssl3": "3.0.21-1"})
    first, second = guest_notes(read_groups(folders))
    assert first.startswith("Guest of imapb · tiny: ")
    assert "OpenSSL 3.0.20-1" in first
    assert second.startswith("Guest of imape · tiny: ")
    assert "OpenSSL 3.0.21-1" in second


def test_many_guests_are_a_table_at_the_end_of_the_page(folders: list[Path], tmp_path: Path) -> None:
    for number, folder in enumerate(folders):
        rewrite(folder, VERSIONS | {"libssl3": f"3.0.2{number}-1"})
    groups = read_groups(folders)
    notes, tables = guests_of_page(groups, lambda group: group.label)
    assert notes == ["The runs are of 4 guests. The last section lists their programs."]
    assert [row.label for row in tables[0].rows] == ["imapb · tiny"] * 2 + ["imape · tiny"] * 2
    page = write_experiment_report("both", folders, tmp_path / "report").read_text(encoding="utf-8")
    assert page.index("<summary>Guests") > page.index('<h2 id="inputs">')


def test_packages_hash_depends_on_guest_packages_only(folders: list[Path]) -> None:
    (before,) = guest_notes(read_groups(folders))
    for folder in folders:
        rewrite(folder, VERSIONS | {"qemu": "11.0", "s80lab": "2.0"})
    (after,) = guest_notes(read_groups(folders))
    assert after == before.replace("QEMU 10.0.2", "QEMU 11.0")
    assert packages_hash(PACKAGES | {"zlib1g": "1"}) not in before


def test_replayed_trace_has_no_guest_note(folders: list[Path]) -> None:
    for folder in folders:
        rewrite(folder, {"s80lab": "0.1.0"}, "")
    assert guest_notes(read_groups(folders)) == []
