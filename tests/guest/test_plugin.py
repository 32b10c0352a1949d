# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin that does not fit this host is found before a boot, with the reason in one sentence. The plugin that bounds
time slices alone (libs80slices.so) refuses wrong arguments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.plugin import check_plugin
from s80lab.guest.qemu import Qemu, find_qemu

# Every Debian release has them under these names.
OF_EVERY_RELEASE = {"libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6", "libzstd.so.1"}


@pytest.fixture(params=[True, False], ids=["in QEMU", "without QEMU"])
def qemu(request: pytest.FixtureRequest) -> Qemu | None:
    return find_qemu() if request.param else None


def linked(folder: Path, name: str, code: str, *options: str) -> Path:
    """A shared library of this code, compiled for this host."""
    source, library = folder / f"{name}.c", folder / name
    source.write_text(code)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, *options], check=True)
    return library


def refused(plugin: Path, qemu: Qemu | None) -> str:
    """The reason in the one sentence."""
    with pytest.raises(UserError) as caught:
        check_plugin(plugin, qemu)
    begin, end = f"the plugin {plugin} cannot be loaded (", "), so this host cannot measure: build s80lab on this "
    end += "release of the system (`make build` in a clone, or `make wheel` for a package)"
    said = str(caught.value)
    assert said.startswith(begin) and said.endswith(end)
    return said.removeprefix(begin).removesuffix(end)


def test_plugin_of_this_build_loads(qemu: Qemu | None) -> None:
    check_plugin(paths.PLUGIN, qemu)


def test_plugin_needs_no_library_of_a_single_release() -> None:
    """A wheel that was built on one release of Debian can then measure on another one."""
    said = subprocess.run(["readelf", "--dynamic", paths.PLUGIN], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", said)) - {"ld-linux-x86-64.so.2"} == OF_EVERY_RELEASE


def test_plugin_of_another_release_names_the_missing_library(tmp_path: Path, qemu: Qemu | None) -> None:
    library = linked(tmp_path, "libother.so.4", "int other(void) { return 0; }\n", "-Wl,-soname,libother.so.4")
    plugin = linked(tmp_path, "plugin.so", "int qemu_plugin_version = 4;\n", "-Wl,--no-as-needed", str(library))
    library.unlink()
    assert refused(plugin, qemu) == "libother.so.4: cannot open shared object file: No such file or directory"


def test_plugin_that_was_cut_off_is_refused(tmp_path: Path, qemu: Qemu | None) -> None:
    (tmp_path / "plugin.so").touch()
    assert refused(tmp_path / "plugin.so", qemu) == "file too short"


def test_plugin_for_another_interface_of_qemu_is_refused(tmp_path: Path) -> None:
    plugin = linked(tmp_path, "plugin.so", "int qemu_plugin_version = 0;\nint qemu_plugin_install;\n")
    assert "requires API version 0" in refused(plugin, find_qemu())


def test_qemu_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    assert refused(paths.PLUGIN, Qemu(tmp_path, "")) == f"{tmp_path} cannot be started: Permission denied"


@pytest.mark.parametrize(
    "arguments", ["instructions=0", "instructions=many", "instructions=5k", "machine=m", "accesses=empty", ""]
)
def test_wrong_arguments_are_refused(arguments: str, lab: Lab) -> None:
    qemu = find_qemu()
    plugin = ",".join(filter(None, (str(paths.SLICES_PLUGIN), arguments)))
    command = [*qemu.command(), "-machine", "none", "-accel", "tcg", "-display", "none", "-plugin", plugin]
    done = subprocess.run(command, env=qemu.environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "s80lab-slices: this plugin needs the argument instructions=N, with N of at least 1, and" in done.stderr
