# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs of reference results: the same bytes everywhere, unpacked once, and refused if they are damaged."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import short_path
from s80lab.results import reference
from s80lab.results.reference import result_runs, run_folders, unpacked, write_pack

FILES = {"runs/b/manifest.json": b"{}", "runs/b/stats.json": b'{"a": 1}', "runs/a/manifest.json": b"{}", "x.json": b""}


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab of its own with the pack `made`."""
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(paths, "REFERENCE", tmp_path / "reference")
    write_pack(filled(tmp_path / "files", FILES), tmp_path / "reference" / "made.tar.xz")
    return tmp_path / "reference"


def filled(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def archive(*entries: tarfile.TarInfo) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as written:
        for entry in entries:
            written.addfile(entry, io.BytesIO(b""))
    return lzma.compress(content.getvalue())


@pytest.mark.parametrize("name", ["small", "uw"])
def test_shipped_pack_equals_pack_of_its_files(name: str, tmp_path: Path) -> None:
    reference.unpack(reference.find_pack(name), tmp_path / "files")
    write_pack(tmp_path / "files", tmp_path / "again.tar.xz")
    assert (tmp_path / "again.tar.xz").read_bytes() == (paths.REFERENCE / f"{name}.tar.xz").read_bytes()


def test_pack_does_not_depend_on_dates_order_or_permissions(packs: Path, tmp_path: Path) -> None:
    other = filled(tmp_path / "other", dict(reversed(FILES.items())))
    os.utime(other / "x.json", (1, 1))
    (other / "x.json").chmod(0o600)
    write_pack(other, tmp_path / "other.tar.xz")
    assert (tmp_path / "other.tar.xz").read_bytes() == (packs / "made.tar.xz").read_bytes()


def test_result_is_unpacked_once_and_again_after_its_pack_changed(packs: Path, tmp_path: Path) -> None:
    folder = unpacked("made")
    assert folder == tmp_path / "build" / "reference" / "made"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert [run.name for run in result_runs("made")] == ["a", "b"]
    (folder / "page.html").write_text("page")
    assert (unpacked("made") / "page.html").is_file()
    write_pack(filled(tmp_path / "new", {"runs/c/manifest.json": b"{}"}), packs / "made.tar.xz")
    assert [run.name for run in run_folders("made")] == ["c"]
    assert not (folder / "page.html").exists()


def test_incomplete_folder_of_a_killed_process_is_replaced(packs: Path) -> None:
    folder = unpacked("made")
    (folder / ".pack").unlink()
    (folder / "runs" / "a" / "manifest.json").unlink()
    assert [run.name for run in run_folders("made")] == ["a", "b"]


def test_lab_that_cannot_be_written_reads_results_from_a_temporary_folder(
    packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(paths, "BUILD", tmp_path / "file" / "build")
    runs = run_folders("made")
    assert [run.name for run in runs] == ["a", "b"] and not runs[0].is_relative_to(tmp_path)
    assert run_folders("made") == runs


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content[:100], "is damaged (it has another length than the file that s80lab wrote)"),
        (lambda content: content + b"x", "is damaged (it has another length than the file that s80lab wrote)"),
        (lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:], "is damaged (Corrupt input data)"),
        (lambda content: b"runs" * 10, "is damaged (Input format not supported by decoder)"),
        (lambda content: b"", "is damaged (it has another length than the file that s80lab wrote)"),
        (lambda content: lzma.compress(b"text" * 500), "is damaged (invalid header)"),
        (lambda content: archive(tarfile.TarInfo("../x")), "contains '../x', which is not a file of a result"),
        (lambda content: archive(tarfile.TarInfo("/x")), "contains '/x', which is not a file of a result"),
    ],
)
def test_damaged_pack_is_refused_in_one_sentence(
    packs: Path, tmp_path: Path, change: Callable[[bytes], bytes], sentence: str
) -> None:
    pack = packs / "made.tar.xz"
    pack.write_bytes(change(pack.read_bytes()))
    with pytest.raises(UserError) as refused:
        unpacked("made")
    remedy = "restore the file from the repository, or install s80lab again"
    assert str(refused.value) == f"{short_path(pack)}: {sentence}; {remedy}"
    assert [path.name for path in tmp_path.glob("build/reference/[!.]*")] == []


def test_link_in_a_pack_is_refused(packs: Path) -> None:
    link = tarfile.TarInfo("x")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    (packs / "made.tar.xz").write_bytes(archive(link))
    with pytest.raises(UserError, match="contains 'x', which is not a file of a result"):
        unpacked("made")


@pytest.mark.parametrize(("name", "answer"), [("mode", "did you mean made?"), ("../made", ""), (".", "")])
def test_unknown_result_is_refused_with_the_known_names(packs: Path, name: str, answer: str) -> None:
    with pytest.raises(UserError, match=f"results/reference has no result `{name}`") as refused:
        unpacked(name)
    assert answer in str(refused.value)


def test_result_without_runs_is_refused_where_runs_are_needed(packs: Path, tmp_path: Path) -> None:
    write_pack(filled(tmp_path / "pages", {"zvm/report.html": b"page"}), packs / "paper.tar.xz")
    assert run_folders("paper") == []
    with pytest.raises(UserError, match="results/reference has no result `paper` with runs: allowed are made"):
        result_runs("paper")
