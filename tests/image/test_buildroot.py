# SPDX-License-Identifier: GPL-2.0-or-later
"""What s80lab does with a Buildroot, tried on a makefile that has its targets and its words; the real one is in
test_buildroot_live.py."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.commands.cli import main
from s80lab.config.server import load_server
from s80lab.image.buildroot import image as image_module
from s80lab.image.buildroot import tree as tree_module
from s80lab.image.buildroot.image import NOT_ROOT, Choice, build_buildroot_image, left_out, target_entries
from s80lab.image.buildroot.make import Make, complaint
from s80lab.image.buildroot.tree import (
    DEFCONFIG,
    PACKING,
    TREE,
    Configuration,
    config_hash,
    find_buildroot,
    load_configuration,
    packing_digest,
    tree_digest,
)
from s80lab.image.contents import COMMON
from s80lab.image.cpio import Entry, folder_entries, read_archive

SERVER = load_server("dovecot")
KERNEL_FRAGMENT = TREE / "configs" / "kernel.fragment"
MAKEFILE = """\
export BR2_VERSION := 2025.02.16
.PHONY: defconfig source all legal-info show-info s80lab-guest-dirclean
defconfig:
\t@test -d $(BR2_EXTERNAL)/package && cp $(BR2_DEFCONFIG) $(O)/.config
source:
\t@test -z "$(BR2_PRIMARY_SITE_ONLY)" || test -e $(patsubst file://%,%,$(BR2_PRIMARY_SITE))/zlib \\
\t    || { echo "*** [pkg-generic.mk:190: $(O)/build/libzlib-1.3.2/.stamp_downloaded] Error 1"; false; }
all:
\t@rm -rf $(O)/target && cp -a target $(O)/ && mkdir -p $(O)/build/s80lab-guest-local && echo $$$$ >> $(O)/built
\t@! grep -q BR2_LINUX_KERNEL=y $(O)/.config || { mkdir -p $(O)/images && cp bzImage $(O)/images; }
legal-info:
\t@test ! -e unlike || { echo "*** [libzlib.mk:81: libzlib-legal-info] Error 1"; false; }
\t@mkdir -p $(O)/legal-info/licenses/zlib && echo Zlib > $(O)/legal-info/licenses/zlib/LICENSE
\t@echo '"PACKAGE","VERSION"' > $(O)/legal-info/manifest.csv
show-info:
\t@echo '{"zlib": {"type": "target", "virtual": true}, "host-m4": {"type": "host", "version": "1.4"},'
\t@echo '"dovecot": {"type": "target", "virtual": false, "version": "2.3", "source_dir": "build/dovecot-custom"},'
\t@echo '"libzlib": {"type": "target", "virtual": false, "version": "1.3.2", "source_dir": "build/libzlib-1.3.2"}}'
s80lab-guest-dirclean:
\t@rm -r $(O)/build/s80lab-guest-local && echo cleaned >> $(O)/built
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A target folder as Buildroot makes one, its /usr merged."""
    root = tmp_path / "sources" / "target"
    for name in ("usr/bin/busybox", "usr/bin/s80-loadgen", "usr/bin/s80-mailstore"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
        (root / name).chmod(0o755)
    for folder in ("usr/lib", "run", "var", "etc"):
        (root / folder).mkdir()
    for name, goal in {"bin": "usr/bin", "lib": "usr/lib", "lib64": "lib", "var/run": "../run"}.items():
        (root / name).symlink_to(goal)
    (root / "usr/bin/sh").symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:of Buildroot:/root:/bin/sh\n")
    (root / NOT_ROOT).write_text("")
    return root


@pytest.fixture
def sources(target: Path) -> Path:
    (target.parent / "Makefile").write_text(MAKEFILE)
    return target.parent


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """The kernel's modules, unpacked."""
    for name in ("drivers/block/null_blk/null_blk.ko", "fs/configfs/configfs.ko"):
        path = tmp_path / "debian/lib/modules/6.1/kernel" / name
        path.parent.mkdir(parents=True)
        path.write_text(name)
    return tmp_path / "debian"


def kernel_image(release: str) -> bytes:
    """As much of a bzImage as says which one it is."""
    version = f"{release} (one@host) #1 SMP".encode()
    return bytes(0x202) + b"HdrS" + bytes(8) + b"\x00\x01" + bytes(0xF0) + version + bytes(1)


def s80lab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command says when it refuses."""
    monkeypatch.setattr(sys, "argv", ["s80lab", "image", "build", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_buildroot_is_given_by_argument_or_environment(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_buildroot(sources).version == "2025.02.16"
    monkeypatch.setenv("BUILDROOT", str(sources))
    assert find_buildroot() == find_buildroot(sources)
    monkeypatch.delenv("BUILDROOT")
    with pytest.raises(UserError, match=r"Buildroot was not found: give --buildroot PATH or set \$BUILDROOT"):
        find_buildroot()


def test_folder_without_version_is_not_a_buildroot(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(
            UserError, match="is not a folder with Buildroot's sources: it contains no Makefile with BR2_VERSION"
        ):
            find_buildroot(tmp_path)
        (tmp_path / "Makefile").write_text("all:\n")


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("2023.11.3", "older"), ("2024.02", ""), ("2026.08-rc1", ""), ("2026.11", "newer"), ("2027.02-git", "newer")],
)
def test_versions_outside_the_range_are_refused(tmp_path: Path, version: str, verdict: str) -> None:
    (tmp_path / "Makefile").write_text(f"# a comment\nexport BR2_VERSION := {version}\n")
    if not verdict:
        assert find_buildroot(tmp_path).version == version
        return
    with pytest.raises(
        UserError, match=rf"is Buildroot {version}, {verdict} than .*: use one from 2024\.02 to 2026\.08"
    ):
        find_buildroot(tmp_path)


def test_later_option_line_overrides_and_rejected_option_is_named(tmp_path: Path) -> None:
    fragment = tmp_path / "fast"
    fragment.write_text("# faster\nBR2_OPTIMIZE_3=y\n# BR2_PACKAGE_DOVECOT_SQLITE is not set\n")
    configuration = load_configuration(fragment)
    taken = "BR2_OPTIMIZE_3=y\nBR2_PACKAGE_DOVECOT=y\nBR2_PACKAGE_OPENSMTPD=y\nBR2_PACKAGE_S80LAB_GUEST=y\n"
    (tmp_path / ".config").write_text(taken + "\n".join(DEFCONFIG.read_text().splitlines()[-6:-3]))
    assert configuration.refused(tmp_path / ".config") == []
    (tmp_path / ".config").write_text(taken.replace("BR2_OPTIMIZE_3=y\n", "# BR2_OPTIMIZE_3 is not set\n"))
    assert "BR2_OPTIMIZE_3=y" in configuration.refused(tmp_path / ".config")
    assert "# BR2_PACKAGE_DOVECOT_SQLITE is not set" not in configuration.refused(tmp_path / ".config")
    assert "BR2_PACKAGE_DOVECOT_SQLITE=y" in Configuration().refused(tmp_path / ".config")
    (tmp_path / "slow").write_text("BR2_OPTIMIZE_3=n")
    assert "BR2_OPTIMIZE_3" not in "".join(
        load_configuration(fragment, tmp_path / "slow").refused(tmp_path / ".config")
    )


def test_remark_is_not_an_option_and_n_means_not_set(tmp_path: Path) -> None:
    """As kconfig reads them."""
    fragment = tmp_path / "fast"
    fragment.write_text("# BR2_OPTIMIZE_3=y\nBR2_STRIP_strip=n\n")
    (tmp_path / ".config").write_text(DEFCONFIG.read_text())
    assert load_configuration(fragment).refused(tmp_path / ".config") == []
    fragment.write_text("BR2_PACKAGE_DOVECOT=n\n")
    assert load_configuration(fragment).refused(tmp_path / ".config") == ["BR2_PACKAGE_DOVECOT=n"]


def test_fragment_with_other_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="absent: cannot be read"):
        load_configuration(tmp_path / "absent")
    (tmp_path / "bad").write_text("BR2_OPTIMIZE_3=y\nCONFIG_NC=y\n")
    with pytest.raises(UserError, match=r"bad, line 2: `CONFIG_NC=y` is not an option of Buildroot"):
        load_configuration(tmp_path / "bad")


def test_config_hash_is_independent_of_host_paths(tmp_path: Path) -> None:
    for name in ("one", "other"):
        places = ("EXTERNAL_S80LAB_PATH", "DL_DIR", "DEFCONFIG", "TOOLCHAIN_EXTERNAL_PATH", "PACKAGE_OVERRIDE_FILE")
        lines = [f'BR2_{place}="/{name}/{place}"' for place in places]
        (tmp_path / name).write_text("\n".join([f"# of {name}", *lines, "BR2_OPTIMIZE_2=y", ""]))
    assert config_hash(tmp_path / "one") == config_hash(tmp_path / "other")
    (tmp_path / "other").write_text("BR2_OPTIMIZE_3=y\n")
    assert config_hash(tmp_path / "one") != config_hash(tmp_path / "other")


STOPPED = "make[1]: *** [package/pkg-generic.mk:190: /o/build/{}/.stamp_downloaded] Error 1\nmake: *** [x] Error 2"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "\nYou must install 'bc' on your build machine\nYou must install 'rsync' on your build machine\n",
            "Buildroot needs bc, rsync on this machine: apt-get install bc rsync",
        ),
        (STOPPED.format("dovecot-2.3.21.1"), "the source of dovecot-2.3.21.1 is missing in /sources"),
        (
            f"ERROR: zlib-1.3.2.tar.xz has wrong sha256 hash:\n{STOPPED.format('libzlib-1.3.2')}",
            "the source of libzlib-1.3.2 is missing in /sources, or its hash is not the one that Buildroot has",
        ),
        (
            "*****\nx.c:1: error: no\nmake[2]: *** [Makefile:3: x.o] Error 1\nmake: *** [y] Error 2",
            "Buildroot failed: make[2]: *** [Makefile:3: x.o] Error 1",
        ),
        ("You seem to have the current working directory in your LD_LIBRARY_PATH", "Buildroot failed: You seem to"),
    ],
)
def test_buildroot_failure_gives_one_sentence(said: str, sentence: str) -> None:
    assert complaint(said, Path("/sources")).startswith(sentence)


def test_folder_is_packed_with_modes_and_links(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o700)
    (tmp_path / "a/b").write_bytes(b"1")
    (tmp_path / "a/b").chmod(0o640)
    (tmp_path / "link").symlink_to("/absent")
    (tmp_path / "folder").symlink_to("a")
    assert list(folder_entries(tmp_path)) == [
        Entry("a", 0o040700),
        Entry("a/b", 0o100640, b"1"),
        Entry("folder", 0o120777, b"a"),
        Entry("link", 0o120777, b"/absent"),
    ]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe is a device, a socket or a named pipe"):
        list(folder_entries(tmp_path))


def test_target_entries_overlay_files_through_links(target: Path, debian: Path, tmp_path: Path) -> None:
    entries = {entry.path: entry for entry in target_entries(target, SERVER, debian, tmp_path)}
    assert entries["var/run"].data == b"../run" and entries["run"].mode == 0o040755
    assert entries["usr/lib/modules/6.1/kernel/fs/configfs/configfs.ko"].data == b"fs/configfs/configfs.ko"
    assert not any(path.startswith(("lib/", "bin/")) for path in entries)
    assert NOT_ROOT not in entries
    assert b"vmail" in entries["etc/passwd"].data and b"of Buildroot" not in entries["etc/passwd"].data
    assert entries["etc/tls/key.pem"].mode == 0o100600
    assert entries["init"].data == (COMMON / "init").read_bytes() and entries["init"].mode == 0o100755
    assert entries["usr/lib/s80lab/server.conf"].data == b"SERVER=dovecot STORE=mbox\n"
    assert "etc/dovecot/users.sqlite" in entries
    (target / "usr/bin/s80-loadgen").unlink()
    with pytest.raises(
        UserError, match="has no usr/bin/s80-loadgen, because Buildroot did not build the package s80lab-guest"
    ):
        list(target_entries(target, SERVER, debian, tmp_path))


def test_dropped_files_are_left_out_unless_a_program_needs_the_library(target: Path) -> None:
    for name in (
        "usr/lib/dovecot/lib20_fts_plugin.so",
        "usr/lib/dovecot/libssl_iostream_openssl.so",
        "usr/bin/sqlite3",
    ):
        (target / name).parent.mkdir(exist_ok=True)
        (target / name).write_text(name)
    for name in ("libstdc++.so.6", "libmvec.so.1"):
        library = target / "usr/lib" / f"{name}.0"
        link = ["gcc", "-xc", "-", "-xnone", "-nostdlib", "-Wl,--no-as-needed", "-o"]
        shared = [str(library), "-shared", "-fPIC", f"-Wl,-soname,{name}"]
        subprocess.run([*link, *shared], input="int one(void){return 1;}", text=True, check=True)
        (target / "usr/lib" / name).symlink_to(library.name)
    dropped = {NOT_ROOT, "usr/lib/dovecot/lib20_fts_plugin.so", "usr/bin/sqlite3", "usr/lib/libmvec.so.1"}
    dropped |= {"usr/lib/libmvec.so.1.0"}
    both = {"usr/lib/libstdc++.so.6", "usr/lib/libstdc++.so.6.0"}
    assert left_out(target) == dropped | both
    program = [str(target / "usr/bin/busybox"), str(target / "usr/lib/libstdc++.so.6.0"), "-Wl,-e,main"]
    subprocess.run([*link, *program], input="int one(void); int main(void){return one();}", text=True, check=True)
    assert left_out(target) == dropped


def test_packing_list_does_not_change_the_compile_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    before = tree_digest(), packing_digest()
    monkeypatch.setattr(tree_module, "TREE", tree)
    assert (tree_digest(), packing_digest()) == before
    for name in PACKING:
        (tree / name).write_text("bin/busybox\n")
        packed = packing_digest()
        assert tree_digest() == before[0] and packed != before[1]
        before = before[0], packed
    (tree / "board/s80lab/busybox.fragment").write_text("CONFIG_NC=y\n")
    assert tree_digest() != before[0] and packing_digest() == before[1]


@pytest.fixture
def making(sources: Path, tmp_path: Path) -> Make:
    return Make(find_buildroot(sources), tmp_path / "output" / "buildroot", None, lambda text: None)


def test_buildroot_output_is_reused_for_equal_options_only(
    making: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.build(Configuration())
    assert not making.downloads and (making.out / "target/usr/bin/busybox").is_file()
    making.build(Configuration())
    built = (making.out / "built").read_text().splitlines()
    assert len(built) == 2 and "cleaned" not in built
    monkeypatch.setattr("s80lab.image.buildroot.make.sources_digest", lambda: "other sources of ours")
    making.build(Configuration())
    assert (making.out / "built").read_text().splitlines()[2] == "cleaned"
    fragment = tmp_path / "fragment"
    fragment.write_text("BR2_OPTIMIZE_3=y\n")
    making.build(load_configuration(fragment))
    assert len((making.out / "built").read_text().splitlines()) == 1


def test_sources_folder_prevents_downloads(making: Make, tmp_path: Path) -> None:
    closed = Make(making.buildroot, making.out, tmp_path, lambda text: None)
    with pytest.raises(UserError) as refused:
        closed.build(Configuration())
    assert str(refused.value) == f"the source of libzlib-1.3.2 is missing in {tmp_path}; full log: {closed.log}"
    (tmp_path / "zlib").write_text("")
    closed.build(Configuration())
    assert (making.out / "built").is_file()


def test_unknown_licence_is_a_warning_and_the_image_is_built(sources: Path, tmp_path: Path) -> None:
    """As of a source that the user put in the place of Buildroot's."""
    (sources / "unlike").write_text("")
    told: list[str] = []
    making = Make(find_buildroot(sources), tmp_path / "output" / "buildroot", None, told.append)
    making.build(Configuration())
    (warning,) = [line for line in told if line.startswith("warning: ")]
    assert "the image has no complete bill of materials: Buildroot failed: *** [libzlib.mk:81: " in warning
    assert (making.out / "target/usr/bin/busybox").is_file()


def test_outer_make_flags_are_ignored(making: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "n -- O=/absent")
    making.build(Configuration())
    assert (making.out / "target/usr/bin/busybox").is_file()


def test_option_that_buildroot_rejects_is_refused(making: Make, sources: Path) -> None:
    text = MAKEFILE.replace("cp $(BR2_DEFCONFIG)", "grep -v OPENSMTPD $(BR2_DEFCONFIG) >")
    (sources / "Makefile").write_text(text)
    with pytest.raises(
        UserError, match=r"2025\.02\.16 rejects the option `BR2_PACKAGE_OPENSMTPD=y`: this version has no such option"
    ):
        making.build(Configuration())


def test_buildroot_image_has_manifest_and_bill_of_materials(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Debian's real kernel."""
    monkeypatch.setattr(image_module, "BUILD", tmp_path)
    folder = tmp_path / "image" / "buildroot"
    manifest = build_buildroot_image(folder, SERVER, Choice(sources), progress=print)
    assert manifest.buildroot and manifest.buildroot.version == "2025.02.16"
    assert manifest.kernel_version.endswith("cloud-amd64")
    kernel = [name for name in manifest.packages if name.startswith("linux-image-")]
    assert kernel and manifest.packages.keys() == {"buildroot", "dovecot", "libzlib", *kernel}
    assert (manifest.packages["dovecot"], manifest.packages["libzlib"]) == ("custom", "1.3.2")
    assert {path.name for path in folder.iterdir()} == {
        *("initramfs.cpio", "licences", "manifest.csv", "manifest.json", "packages.json", "vmlinuz")
    }
    assert (folder / "licences/zlib/LICENSE").read_text() == "Zlib\n"
    names = [entry.path for entry in read_archive(folder / "initramfs.cpio")]
    assert "usr/bin/s80-loadgen" in names and names == sorted(names)
    said: list[str] = []
    assert build_buildroot_image(folder, SERVER, Choice(sources), progress=said.append) == manifest
    assert said == ["image: up to date"]


def test_image_with_its_own_kernel_uses_modules_of_that_kernel(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buildroot's with Buildroot's modules, and nothing of Debian's is asked for."""
    monkeypatch.setattr(image_module, "BUILD", tmp_path)
    kernel = kernel_image("6.1.174")
    (sources / "bzImage").write_bytes(kernel)
    for name in ("drivers/block/null_blk/null_blk.ko", "fs/configfs/configfs.ko"):
        path = sources / "target/usr/lib/modules/6.1.174/kernel" / name
        path.parent.mkdir(parents=True)
        path.write_text(name)
    folder = tmp_path / "image" / "buildroot"
    told: list[str] = []
    choice = Choice(sources, fragments=(KERNEL_FRAGMENT,))
    manifest = build_buildroot_image(folder, SERVER, choice, progress=told.append)
    assert manifest.kernel_version == "6.1.174"
    assert manifest.packages.keys() == {"buildroot", "dovecot", "libzlib"}
    assert (folder / "vmlinuz").read_bytes() == kernel
    modules = [entry for entry in read_archive(folder / "initramfs.cpio") if entry.path.endswith("configfs.ko")]
    assert [entry.path for entry in modules] == ["usr/lib/modules/6.1.174/kernel/fs/configfs/configfs.ko"]
    assert not [line for line in told if "Debian" in line]


def test_custom_kernel_must_be_x86_and_have_the_guest_modules(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_module, "BUILD", tmp_path)
    choice = Choice(sources, fragments=(KERNEL_FRAGMENT,))

    def build() -> None:
        build_buildroot_image(tmp_path / "image" / "buildroot", SERVER, choice, progress=print)

    (sources / "bzImage").write_bytes(b"\x7fELF" + bytes(0x400))
    with pytest.raises(UserError, match=r"images/bzImage is missing or not an x86 kernel: .*/configs/kernel\.fragment"):
        build()
    (sources / "bzImage").write_bytes(kernel_image("6.1.174"))
    with pytest.raises(UserError, match=r"no file in .* matches the pattern 'lib/modules/"):
        build()
    assert not (tmp_path / "image" / "buildroot").exists()


def test_images_of_several_servers_are_built_one_at_a_time(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share Buildroot's output, which other options begin anew."""
    monkeypatch.setattr(image_module, "BUILD", tmp_path)
    (sources / "Makefile").write_text(MAKEFILE.replace("all:\n", "all:\n\t@echo '*** enough'; false\n"))
    (tmp_path / "buildroot").mkdir()
    with (tmp_path / "buildroot" / ".buildroot.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        told: list[str] = []

        def progress(text: str) -> None:
            told.append(text)
            fcntl.flock(other, fcntl.LOCK_UN)

        with pytest.raises(UserError, match=r"Buildroot failed: \*\*\* enough"):
            build_buildroot_image(tmp_path / "image" / "buildroot-x", SERVER, Choice(sources), progress=progress)
    assert told[0] == f"image: waiting for another process that builds in {tmp_path / 'buildroot' / 'buildroot'}"


def test_bad_words_are_refused(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BUILDROOT", raising=False)
    monkeypatch.setattr(image_module, "BUILD", tmp_path)

    def refused(*words: str) -> str:
        return s80lab(monkeypatch, capsys, *words)

    assert refused("--image", "gentoo").startswith("s80lab: `gentoo` is not an image: write debian, buildroot or")
    assert refused("--downloads", ".").startswith("s80lab: image debian is built from Debian's packages; --buildroot, ")
    assert "--refresh records Debian's packages" in refused("--image", "buildroot", "--refresh")
    assert "Buildroot was not found: give --buildroot PATH" in refused("--image", "buildroot")
    assert "is not a folder with Buildroot's sources" in refused("--buildroot", str(tmp_path / "absent"))
    given = ("--buildroot", str(sources))
    assert "server uw cannot be built with Buildroot" in refused(*given, "--server", "uw")
    assert "--downloads absent: this folder does not exist" in refused(*given, "--downloads", "absent")
    assert "absent: cannot be read" in refused(*given, "--fragment", "absent")
    assert not (tmp_path / "image").exists()
