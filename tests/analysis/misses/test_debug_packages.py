# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files, found by build ID, and their lines of the source. Debug symbols from a package archive of the test's
own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from s80lab.analysis.misses.debug_files import ADDR2LINE, DebugFiles, own_lines, source_lines, state_now
from s80lab.analysis.misses.debug_packages import fetch_debug_files
from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf
from s80lab.image.build import ImageManifest
from s80lab.image.cpio import Entry, write_archive


class Archive:
    """A flat archive of packages, and an image with one stripped program of the package `prog` 1.0."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = folder / "archive"
        self.archive.mkdir()
        (folder / "prog.c").write_text("int main(void) { return 0; }")
        subprocess.run(["gcc", "-g", "-Wl,--build-id", "prog.c", "-o", "whole"], cwd=folder, check=True)
        subprocess.run(["objcopy", "--only-keep-debug", "whole", "debug"], cwd=folder, check=True)
        subprocess.run(["strip", "whole", "-o", "prog"], cwd=folder, check=True)
        self.build_id = Elf(folder / "prog").build_id
        self.image = folder / "debian"
        self.image.mkdir()
        write_archive([Entry("bin/prog", 0o100755, (folder / "prog").read_bytes())], self.image / "initramfs.cpio")
        (self.image / "vmlinuz").write_bytes(b"kernel")
        manifest = ImageManifest(
            inputs_sha256="0",
            vmlinuz_sha256="0",
            initramfs_sha256="0",
            vmlinuz_bytes=6,
            initramfs_bytes=1,
            kernel_version="6.1.0",
            packages={"prog": "1.0", "linux-image-6.1.0": "6.1.5"},
        )
        (self.image / "manifest.json").write_text(manifest.model_dump_json())

    @property
    def sources(self) -> list[str]:
        return [f"deb [trusted=yes] file:{self.archive} ./"]

    def add(self, name: str, version: str, files: dict[str, Path], fields: str = "") -> None:
        """Add a package with these files under usr/lib/debug."""
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        for path, file in files.items():
            target = tree / "usr/lib/debug" / path
            target.parent.mkdir(parents=True)
            shutil.copyfile(file, target)
        (tree / "DEBIAN").mkdir(parents=True)
        control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: x <x@example.org>\n{fields}"
        (tree / "DEBIAN" / "control").write_text(f"{control}Description: symbols\n")
        package = self.archive / f"{name}_{version}_amd64.deb"
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, package], check=True, capture_output=True)
        content = package.read_bytes()
        with (self.archive / "Packages").open("a") as index:
            index.write(
                f"{control}Filename: ./{package.name}\nSize: {len(content)}\n"
                f"SHA256: {hashlib.sha256(content).hexdigest()}\nDescription: symbols\n\n"
            )

    def fetch(self, out: Path, kernel: bool = False, sources: list[str] | None = None) -> tuple[list[str], list[str]]:
        """Names of the packages that were fetched, and the programs without debug files."""
        found = fetch_debug_files(
            self.image, out, self.sources if sources is None else sources, kernel=kernel, progress=lambda line: None
        )
        return found.packages, found.missing


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def test_package_with_the_build_id_is_fetched(archive: Archive, tmp_path: Path) -> None:
    place = f".build-id/{archive.build_id[:2]}/{archive.build_id[2:]}.debug"
    files = {place: tmp_path / "debug", ".dwz/prog.debug": tmp_path / "prog.c", "other/x": tmp_path / "prog.c"}
    archive.add("prog-dbgsym", "1.0", files, f"Build-Ids: {archive.build_id}\n")
    out = tmp_path / "out"
    assert archive.fetch(out) == (["prog-dbgsym"], [])
    assert (out / place).read_bytes() == (tmp_path / "debug").read_bytes()
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == sorted([Path(place).name, "prog.debug"])


def test_package_of_another_version_or_build_is_not_fetched(archive: Archive, tmp_path: Path) -> None:
    archive.add("prog-dbgsym", "1.1", {"x": tmp_path / "debug"}, f"Build-Ids: {archive.build_id}\n")
    archive.add("prog-dbg", "1.0", {"x": tmp_path / "debug"}, "Build-Ids: 00ff\n")
    assert archive.fetch(tmp_path / "out") == ([], ["/bin/prog"])


def test_kernel_is_fetched_on_request(archive: Archive, tmp_path: Path) -> None:
    archive.add(
        "linux-image-6.1.0-dbg", "6.1.5", {"boot/vmlinux-6.1.0": tmp_path / "debug", "lib/x": tmp_path / "prog"}
    )
    assert archive.fetch(tmp_path / "out") == ([], ["/bin/prog"])
    assert archive.fetch(tmp_path / "out", kernel=True)[0] == ["linux-image-6.1.0-dbg"]
    assert (tmp_path / "out" / "boot" / "vmlinux-6.1.0").is_file()
    assert not (tmp_path / "out" / "lib").exists()


def test_absent_archive_of_debug_symbols_is_left_out(archive: Archive, tmp_path: Path) -> None:
    archive.add(
        "prog-dbg", "1.0", {f".build-id/{archive.build_id[:2]}/{archive.build_id[2:]}.debug": tmp_path / "debug"}
    )
    absent = f"deb [trusted=yes] file:{tmp_path}/absent ./"
    assert archive.fetch(tmp_path / "out", sources=[*archive.sources, absent]) == (["prog-dbg"], [])
    with pytest.raises(UserError, match="the package archive cannot be read: "):
        archive.fetch(tmp_path / "out", sources=[absent])


def test_package_that_is_not_in_the_archive_is_refused(archive: Archive, tmp_path: Path) -> None:
    archive.add("prog-dbg", "1.0", {"x": tmp_path / "debug"})
    with pytest.raises(UserError, match=r"the package linux-image-6\.1\.0-dbg 6\.1\.5 cannot be fetched: "):
        archive.fetch(tmp_path / "out", kernel=True)


SOURCE = """int first(int x) {
    return x * 3;
}
"""


def compiled(folder: Path) -> Elf:
    (folder / "src" / "code").mkdir(parents=True)
    (folder / "src" / "code" / "program.c").write_text(SOURCE)
    command = ["gcc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "src/code/program.c", "-o", "program.so"]
    subprocess.run(command, cwd=folder, check=True)
    return Elf(folder / "program.so")


def test_source_line_of_an_address(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    first = next(function.address for function in elf.functions() if function.name == "first")
    found = source_lines(elf.path, [first, 1])
    assert found[first] in ("src/code/program.c:1", "src/code/program.c:2")
    assert list(found) == [first]


def test_source_lines_of_a_stripped_file_are_unknown(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    first = next(function.address for function in elf.functions() if function.name == "first")
    subprocess.run(["strip", elf.path], check=True)
    assert source_lines(elf.path, [first]) == {}


def test_first_folder_with_the_build_id_wins(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for root, size in ((two, 3), (one, 2)):
        (root / ".build-id" / "ab").mkdir(parents=True)
        (root / ".build-id" / "ab" / "cdef.debug").write_bytes(bytes(size))
    files = DebugFiles([one, two])
    assert files.find("abcdef") == one / ".build-id" / "ab" / "cdef.debug"
    assert files.find("abcdee") is None and files.find("") is None
    assert {**files.state(), ADDR2LINE: ""} == {"abcdee": "", "abcdef": "2", ADDR2LINE: ""}


def test_kernel_is_found_by_version_and_build_id(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    (tmp_path / "boot").mkdir()
    kernel = tmp_path / "boot" / "vmlinux-6.1.0"
    elf.path.rename(kernel)
    files = DebugFiles([tmp_path])
    assert files.find_kernel("6.1.0", elf.build_id) == kernel
    assert files.find_kernel("6.1.0", "00ff") is None  # another build of this version
    assert files.find_kernel("6.1.1", elf.build_id) is None
    assert files.state()[f"{elf.build_id} 6.1.0"] == str(kernel.stat().st_size)
    assert state_now(files.state()).keys() == files.state().keys()


def test_own_lines_of_inlined_library_code_are_those_of_its_user(tmp_path: Path) -> None:
    source, program = tmp_path / "used.cpp", tmp_path / "used"
    source.write_text("#include <vector>\nint main(int n, char**) {\n    return std::vector<int>(n).size();\n}\n")
    subprocess.run(["g++", "-g", "-O2", "-fno-exceptions", "-o", program, source], check=True)
    (main,) = (one for one in Elf(program).functions() if one.name == "main")
    lines = set(own_lines(program, range(main.address, main.address + main.size)).values())
    assert {line.rpartition("/")[2].partition(":")[0] for line in lines} == {"used.cpp"}
