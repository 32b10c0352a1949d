# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the packages stay inside their root, whatever their links say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.image.files import INTERPRETER, files_named, kept_files, matches, resolve


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the host that packages may point at by an absolute link; the root has one of the same name."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    root = tmp_path / "root"
    (root / outside.relative_to("/")).mkdir(parents=True)
    return root


def put(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def link(path: Path, target: str | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def test_dynamic_linker_is_that_of_the_image(root: Path, outside: Path) -> None:
    """libc6's link to it is absolute: followed by the host, it would bring the host's."""
    put(outside / "ld.so", b"the host's")
    own = put(root / outside.relative_to("/") / "ld.so", b"the image's")
    link(root / INTERPRETER, outside / "ld.so")
    library = put(root / "usr/lib/libone.so.1")
    shared = ["gcc", "-xc", "-", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libone.so.1", "-o", str(library)]
    subprocess.run(shared, input="int one(void){return 1;}", text=True, check=True)
    program = ["gcc", "-xc", "-", "-xnone", "-nostdlib", "-Wl,--no-as-needed,-e,main", str(library), "-o"]
    subprocess.run(
        [*program, str(put(root / "usr/bin/program"))], input="int main(void){return 0;}", text=True, check=True
    )
    entries = {entry.path: entry.data for entry in kept_files(root, {"usr/bin/program": "here"})}
    assert entries[INTERPRETER] == b"the image's"
    own.unlink()
    with pytest.raises(UserError, match=r"no package of the image contains the dynamic linker"):
        kept_files(root, {"usr/bin/program": "here"})


def test_kept_absolute_link_is_resolved_inside_the_root(root: Path, outside: Path) -> None:
    put(outside / "tool", b"the host's")
    put(root / outside.relative_to("/") / "tool", b"the image's")
    link(root / "etc/alternatives/tool", outside / "tool")
    link(root / "usr/bin/tool", "/etc/alternatives/tool")
    assert [entry.data for entry in kept_files(root, {"usr/bin/t*": "here"})] == [b"the image's"]


def test_link_to_a_file_outside_the_root_is_ignored(root: Path, outside: Path) -> None:
    put(outside / "libhost.so")
    link(root / "usr/lib/libhost.so", outside / "libhost.so")
    link(root / "usr/lib/libtop.so", "../../../outside/libhost.so")
    assert matches(root, "usr/lib/*") == []
    assert files_named(root, ".so") == []


@pytest.mark.parametrize("target", ["usr/lib64", "/usr/lib64"])
def test_folders_that_are_links_are_entered_inside(root: Path, target: str) -> None:
    """A merged /usr: lib64 is a link, and its files are named by either path."""
    put(root / "usr/lib64/ld-linux-x86-64.so.2", b"loader")
    link(root / "lib64", target)
    assert matches(root, "lib64/ld-*") == [INTERPRETER]
    assert resolve(root, INTERPRETER).read_bytes() == b"loader"
    assert files_named(root, ".so") == ["usr/lib64/ld-linux-x86-64.so.2"]


def test_patterns_choose_by_every_part(root: Path) -> None:
    for name in ("usr/lib/dovecot/imap", "usr/lib/dovecot/libdovecot.so.0", "usr/lib/other/imap", "usr/bin/imap"):
        put(root / name)
    assert matches(root, "usr/lib/*/imap") == ["usr/lib/dovecot/imap", "usr/lib/other/imap"]
    assert matches(root, "usr/lib/dovecot/[!l]*") == ["usr/lib/dovecot/imap"]
    assert matches(root, "usr/absent/*") == []


def test_library_in_the_nearer_folder_comes_first(root: Path) -> None:
    """The order is that of the names, not that in which the host's file system lists them."""
    for name in ("usr/lib/a/b/libone.so", "usr/lib/z/libone.so", "usr/lib/c/libone.so"):
        put(root / name)
    assert files_named(root, ".so") == ["usr/lib/c/libone.so", "usr/lib/z/libone.so", "usr/lib/a/b/libone.so"]


def test_dots_lead_no_further_than_the_root(root: Path) -> None:
    put(root / "etc/passwd", b"the image's")
    link(root / "a/b/link", "../../../../../etc/passwd")
    assert resolve(root, "a/b/link").read_bytes() == b"the image's"
    assert resolve(root, "../../etc/passwd") == root / "etc/passwd"


def test_cycle_of_links_is_refused(root: Path) -> None:
    link(root / "one", "two")
    link(root / "two", "/one")
    with pytest.raises(UserError, match="the symbolic link one in the packages of the image is part of a cycle"):
        resolve(root, "one")
