# SPDX-License-Identifier: GPL-2.0-or-later
"""What gem5's side reads of a resolved machine file; no gem5 needed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from s80lab.base import paths
from s80lab.config.machine import load_machine
from s80lab.gem5.agree import agree


@pytest.fixture(scope="module")
def module() -> ModuleType:
    path = paths.ROOT / "configs" / "gem5" / "machine_file.py"
    spec = importlib.util.spec_from_file_location("machine_file", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["machine_file"] = loaded  # dataclasses look their module up
    spec.loader.exec_module(loaded)
    return loaded


def resolved(folder: Path, *settings: str, machine: str = "s80", protocol: str = "hammer") -> Path:
    path = folder / "machine.toml"
    path.write_text(agree.setup(machine, settings, protocol).machine.resolved())
    return path


def test_machine_file_of_s80_with_exclusive_l2_is_read(module: ModuleType, tmp_path: Path) -> None:
    machine = module.MachineFile.load(resolved(tmp_path, "processors.threads_per_core=2"))
    assert (machine.processors, machine.cores, machine.line_bytes, machine.clock_hz) == (18, 9, 128, 450_000_000)
    assert (machine.l1d.size, machine.l1d.ways, machine.l2.size, machine.l2.ways) == (128 << 10, 2, 8 << 20, 4)
    assert (machine.policy, machine.latency.memory) == ("lru", 110)


def test_machine_that_ruby_cannot_simulate_is_refused(module: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(load_machine("s80").resolved())
    with pytest.raises(module.MachineError, match="no counterpart of protocol moesi; use hammer, mesi-llc"):
        module.MachineFile.load(path)
    path.write_text(load_machine("s80", {"protocol": "hammer"}).resolved())
    with pytest.raises(module.MachineError, match="the L2 of MOESI_hammer is exclusive"):
        module.MachineFile.load(path)
    with pytest.raises(module.MachineError, match="l1i has one set"):
        module.MachineFile.load(resolved(tmp_path, "l1i.size=256"))
    path.write_text("name = 'x'\n")
    with pytest.raises(module.MachineError, match="not a resolved machine file"):
        module.MachineFile.load(path)
    with pytest.raises(module.MachineError, match="cannot be read"):
        module.MachineFile.load(tmp_path / "absent.toml")


def test_directory_becomes_a_probe_filter_with_the_same_policy(module: ModuleType, tmp_path: Path) -> None:
    machine = module.MachineFile.load(resolved(tmp_path, "directory.entries=768", "directory.ways=3"))
    assert (machine.ruby, machine.filtered) == ("MOESI_hammer", True)
    assert machine.filter_geometry == module.Geometry(768 * 128, 3, "lru")
    assert not module.MachineFile.load(resolved(tmp_path)).filtered


def test_last_level_cache_of_one_slice_is_read(module: ModuleType, tmp_path: Path) -> None:
    machine = module.MachineFile.load(resolved(tmp_path, "llc.slices=1", machine="server-16", protocol="mesi-llc"))
    assert (machine.ruby, machine.llc) == ("MESI_Three_Level", module.Geometry(24 << 20, 12, "lru"))
    assert any("[latency]: unused" in note for note in machine.notes())


@pytest.mark.parametrize("settings", [("llc.slices=16",), ("llc.slices=1", "llc.replacement=srrip")])
def test_last_level_cache_that_ruby_lacks_is_refused(
    settings: tuple[str, ...], module: ModuleType, tmp_path: Path
) -> None:
    path = resolved(tmp_path, *settings, machine="server-16", protocol="mesi-llc")
    with pytest.raises(module.MachineError, match=r"\[llc\] has slices = \d+ and replacement = \w+; Ruby can have one"):
        module.MachineFile.load(path)


def test_machine_settings_that_ruby_handles_differently_are_noted(module: ModuleType, tmp_path: Path) -> None:
    assert any("latency.upgrade" in note for note in module.MachineFile.load(resolved(tmp_path)).notes())
    plru = module.MachineFile.load(resolved(tmp_path, "replacement.policy=plru")).notes()
    assert any("plru" in note for note in plru)
    queues = module.MachineFile.load(resolved(tmp_path, "bandwidth.memory=40")).notes()
    assert any("[bandwidth]: unused" in note for note in queues)
    assert not any("[bandwidth]" in note for note in plru)
