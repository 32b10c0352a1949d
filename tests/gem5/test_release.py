# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of differences between releases (configs/gem5/release.py), with the build options of real builds. The
example of a user's own script runs in the user's gem5."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from s80lab.base import paths
from s80lab.gem5.stats import read_dumps

# m5.defines.buildEnv of two builds, reduced to the options of Ruby's protocols.
V24 = {"PROTOCOL": "MOESI_hammer", "RUBY_PROTOCOL_MOESI_HAMMER": True, "RUBY_PROTOCOL_CHI": False}
V25 = {
    "PROTOCOL": "MULTIPLE",
    "RUBY_PROTOCOL_MOESI_hammer": True,
    "RUBY_PROTOCOL_CHI": True,
    "RUBY_PROTOCOL_MSI": False,
}


@pytest.fixture(scope="module")
def module() -> ModuleType:
    folder = paths.ROOT / "configs" / "gem5"
    loaded = ModuleType("")
    for name in ("machine_file", "release"):  # release.py imports machine_file.py
        spec = importlib.util.spec_from_file_location(name, Path(folder / f"{name}.py"))
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        spec.loader.exec_module(loaded)
    return loaded


def test_release_24_0_has_one_protocol_and_short_class_names(module: ModuleType) -> None:
    release = module.find_release(V24)
    assert release.since == "24.0"
    assert release.protocols(V24) == ("MOESI_hammer",)
    assert release.controller.format(protocol="P", machine="L1Cache") == "L1Cache_Controller"
    assert release.directory_memory(128) == {}


def test_release_since_24_1_has_several_protocols_and_long_class_names(module: ModuleType) -> None:
    release = module.find_release(V25)
    assert release.since == "24.1"
    assert release.protocols(V25) == ("CHI", "MOESI_hammer")
    assert release.controller.format(protocol="P", machine="L1Cache") == "P_L1Cache_Controller"
    assert release.directory_memory(128) == {"block_size": 128}


def test_gem5_without_ruby_has_no_protocol(module: ModuleType) -> None:
    assert module.find_release({}).protocols({}) == ()


SCRIPT = paths.ROOT / "configs" / "gem5" / "own_script.py"


def test_own_script_counts_accesses_of_four_processors(gem5: Path, tmp_path: Path) -> None:
    done = subprocess.run([gem5, "-d", tmp_path, SCRIPT], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"config.ini", "config.json", "stats.txt"} <= {path.name for path in tmp_path.iterdir()}
    (dump,) = read_dumps(tmp_path / "stats.txt")
    loads = dump.matching(r"(board[.]cache_hierarchy[.].*L1Cache_Controller[.]I[.]Load)")
    assert sum(sum(values) for values in loads.values()) > 100
