# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration files: every refusal names file, key and what is allowed. Files of the studies are found by their
names. What differs from an experiment's file, and the labels and names that say so."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find, load, parse_settings, parse_size
from s80lab.base.suggest import names
from s80lab.config.differences import differences, find_differences, label, slug, words
from s80lab.config.experiment import ACCOUNTS, load_experiment, load_scale
from s80lab.config.machine import GIB, Machine, load_guest_machine, load_machine, load_machine_text, low_ram
from s80lab.config.server import load_server
from s80lab.config.workload import load_workload
from s80lab.experiment.check import check_file


@pytest.mark.parametrize(("text", "value"), [("128KiB", 131072), ("8MiB", 8388608), ("4 GiB", 4 * GIB), (512, 512)])
def test_size_with_unit_is_parsed(text: object, value: int) -> None:
    assert parse_size(text) == value


@pytest.mark.parametrize("text", ["8MB", "8.5MiB", "-1", "", True])
def test_malformed_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a size: write a number of bytes, or a number with KiB, MiB or GiB"):
        parse_size(text)


def test_s80_machine_has_the_sizes_of_the_paper() -> None:
    machine = load_machine("s80")
    assert machine.processors.count == 18
    assert (machine.l1i.size, machine.l1d.size, machine.l2.size) == (128 << 10, 128 << 10, 8 << 20)
    assert machine.line_bytes == 128


def test_unknown_machine_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UserError, match=r"no machine `s81` in configs/machines: did you mean s80\?"):
        load_machine("s81")


def test_path_as_a_configuration_name_is_refused(tmp_path: Path) -> None:
    """A name becomes a folder's name in results and checkpoints."""
    (tmp_path / "x.toml").write_text("")
    outside = os.path.relpath(tmp_path, paths.MACHINES) + "/x"
    with pytest.raises(UserError, match=r"there is no machine `\.\./.*/x` in configs/machines"):
        load_machine(outside)
    with pytest.raises(UserError, match=r"there is no experiment `\.\./experiments/imapb`"):
        load_experiment("../experiments/imapb", {})


@pytest.mark.parametrize("key", ["latency.memory", "clock.quantum_cycles"])
def test_numbers_that_the_model_cannot_hold_are_refused(key: str) -> None:
    with pytest.raises(UserError, match=rf"s80.toml: key `{key}`: .*at most 4294967295"):
        load_machine("s80", {key: 1 << 32})
    load_machine("s80", {key: (1 << 32) - 1})


@pytest.mark.parametrize(
    ("machine", "shift"),
    [("s80", 0), ("p4-2ghz", 1), ("pe4600", 2)],  # the shortest instruction: 2.2 ns, 0.5 ns, 0.45 ns
)
def test_clock_shift_makes_the_shortest_instruction_a_nanosecond(machine: str, shift: int) -> None:
    assert load_machine(machine).clock_shift == shift


def test_instruction_that_the_guests_clock_cannot_show_is_refused() -> None:
    assert load_machine("s80", {"clock.base_cpi": 0.5, "processors.clock_hz": 512_000_000_000}).clock_shift == 10
    with pytest.raises(
        UserError,
        match=r"clock\.base_cpi = 0\.5 at processors\.clock_hz = 512000000001 makes an instruction shorter than 1/1024",
    ):
        load_machine("s80", {"clock.base_cpi": 0.5, "processors.clock_hz": 512_000_000_001})


@pytest.mark.parametrize(
    "key", ["guest.time_ratio", "guest.tick_hz", "clock.turn_instructions", "clock.slice_instructions"]
)
def test_key_of_an_earlier_clock_is_refused(key: str) -> None:
    with pytest.raises(UserError, match=f"unknown key `{key}`"):
        load_machine("s80", {key: 1})


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("l2.sise", r"s80.toml: unknown key `l2.sise`: did you mean size\? \(allowed are inclusion, size, ways\)"),
        ("l3.size", r"s80.toml: unknown key `l3`: allowed are .*l1d, l1i, l2"),
        ("line_bytes.x", r"s80.toml: `line_bytes` in `line_bytes.x` is a single value and not a table with keys"),
    ],
)
def test_unknown_machine_key_is_refused(key: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_machine("s80", {key: 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"processors.count": 257}, r"processors.count.*at most 256"),
        ({"processors.count": 0}, r"processors.count.*at least 1"),
        (
            {"processors.threads_per_core": 4},
            r"processors.count = 18 must be a multiple of processors.threads_per_core = 4",
        ),
        ({"l2.ways": 33}, r"l2.ways.*at most 32"),
        ({"l2.size": "128GiB"}, r"l2.size.*at most 68719476736"),
        ({"line_bytes": 16}, r"line_bytes.*at least 32"),
        ({"line_bytes": 2048}, r"line_bytes.*at most 1024"),
        ({"clock.base_cpi": float("inf")}, r"clock.base_cpi.*finite"),
        ({"translation.walks": "none"}, "translation.walks.*allowed are hashed, x86"),
        ({"translation.entries": 2048}, r"translation.entries.*at most 1024"),
        ({"translation.page_table": "96MiB"}, r"translation.page_table = 100663296 must be a power of two"),
        ({"bandwidth.bus": 2_000_000}, r"bandwidth.bus.*at most 1000000"),
        ({"smt.issue_share": 0}, r"smt.issue_share.*at least 0.01"),
        ({"smt.issue_share": 0.5}, r"smt.issue_share = 0.5 needs cores with two threads"),
        ({"bandwidth.banks": 0}, r"bandwidth.banks.*at least 1"),
        ({"latency.memory": 1 << 32}, r"latency.memory.*at most 4294967295"),
        (
            {"replacement.policy": "plru", "l2.ways": 3, "l2.size": "3MiB"},
            r"l2.ways = 3 must be a power of two for the replacement policy `plru`",
        ),
    ],
)
def test_unsupported_machine_setting_is_refused_with_its_key(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_machine("s80", settings)


LLC = {"llc.size": "24MiB", "llc.ways": 12, "llc.slices": 4, "latency.llc": 40}
DIRECTORY = {"directory.entries": "1.5x", "directory.ways": 12, "directory.slices": 18}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"llc.slices": 7}, r"llc.size = 25165824 bytes makes 196608 lines, which llc.slices = 7 does not divide"),
        (
            {"llc.inclusion": "inclusive"},
            r"unknown key `llc.inclusion`: the form .* choose it with --protocol mesi-llc",
        ),
        ({"llc.slices": 3}, r"llc.slices = 3 and 12 ways makes 5461.33 sets in a slice"),
        ({"llc.size": 100}, r"llc.size = 100 bytes is not a whole number of 128-byte lines"),
        ({"llc.size": "4KiB"}, r"llc.size = 4096 bytes is less than one set of 12 ways in each slice"),
        ({"llc.replacement": "plru"}, r"llc.ways = 12 must be a power of two for the replacement policy `plru`"),
        ({"llc.replacement": "fifo"}, r"llc.replacement.*allowed are lru, plru, random, srrip"),
        ({"directory.entries": 215}, r"directory.entries = 215 is less than one set of 12 ways in each slice"),
        ({"directory.entries": 217}, r"makes 217 lines, which directory.slices = 18 does not divide"),
        ({"directory.entries": "0x"}, r"`0x` is not allowed; write a whole number, or a multiple"),
        ({"directory.entries": "1.5"}, r"`1.5` is not allowed.*such as 1.5x"),
        ({"directory.entries": "1001x"}, r"`1001x` is not allowed.*a multiple of at most 1000 such as 1.5x"),
        ({"directory.entries": 0}, r"key `directory.entries`: `0` is not allowed; write a number of at least 1$"),
        ({"directory.entries": "1000x", "l2.size": "1GiB"}, r"entries`: `1000x`.*write a number of at most 2147483648"),
        ({"llc.slices": 1025}, r"key `llc.slices`: `1025` is not allowed; write a number of at most 1024"),
        (
            {"replacement.policy": "srrip"},
            r"replacement.policy`: `srrip` is not one of its values.*lru, plru, random$",
        ),
        ({"home.kind": "ring"}, r"key `home.kind`: `ring` is not one of its values; allowed are bus, directory"),
    ],
)
def test_unsupported_llc_or_directory_is_refused_with_its_key(settings: dict[str, object], message: str) -> None:
    assert load_machine("s80", {**LLC, **DIRECTORY}).directory_entries == 18 * 65536 * 3 // 2
    with pytest.raises(UserError, match=message):
        load_machine("s80", {**LLC, **DIRECTORY, **settings})


def test_llc_and_its_latency_need_each_other() -> None:
    with pytest.raises(UserError, match=r"\[llc\] needs a latency: set latency.llc"):
        load_machine("s80", {key: value for key, value in LLC.items() if key != "latency.llc"})
    with pytest.raises(UserError, match=r"latency.llc = 40 needs a table \[llc\]"):
        load_machine("s80", {"latency.llc": 40})


GROUP = {"group.cores": 6, "group.size": "8MiB", "group.ways": 16, "latency.group": 30}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"group.cores": 4}, r"group.cores = 4 does not divide the 18 cores of the machine: choose a divisor"),
        ({"group.ways": 12}, r"group.size = 8388608 bytes in 12 ways of 128-byte lines makes 5461.33 sets"),
        (
            {"group.size": 128 * 12 * 64, "group.ways": 12, "group.replacement": "plru"},
            r"group.ways = 12 must be a power of two for the replacement policy `plru`",
        ),
        (
            {"processors.count": 255, "group.cores": 1},
            r"group.cores = 1 makes 255 group caches on 255 cores; at most 256 cores and group caches together",
        ),
    ],
)
def test_unsupported_group_caches_are_refused_with_their_key(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_machine("s80", GROUP | settings)


def test_group_caches_and_their_latency_need_each_other() -> None:
    with pytest.raises(UserError, match=r"\[group\] needs a latency: set latency.group"):
        load_machine("s80", {key: value for key, value in GROUP.items() if key != "latency.group"})
    with pytest.raises(UserError, match=r"latency.group = 30 needs a table \[group\]"):
        load_machine("s80", {"latency.group": 30})


def test_guest_has_at_most_32_cores_and_group_caches() -> None:
    assert load_guest_machine("s80", GROUP).groups == 3
    with pytest.raises(UserError, match=r"18 cores and 18 group caches are too many for a guest"):
        load_guest_machine("s80", GROUP | {"group.cores": 1})


def test_directory_counts_the_lines_of_group_caches() -> None:
    sized = {"directory.entries": "1x", "directory.ways": 16, "directory.slices": 21}
    plain = load_machine("s80", sized | {"directory.slices": 18})
    grouped = load_machine("s80", GROUP | sized)
    assert grouped.directory_entries - plain.directory_entries == 3 * (8 << 20) // 128


def test_machine_file_holds_group_caches_only_if_the_machine_has_them() -> None:
    assert "[group]" not in load_machine("s80").resolved()
    assert "[group]\ncores = 6\nsize = 8388608\nways = 16\n" in load_machine("s80", GROUP).resolved()


def test_machine_file_holds_llc_and_directory_only_if_the_machine_has_them() -> None:
    plain, resolved = load_machine("s80"), load_machine("s80", {**LLC, **DIRECTORY}).resolved()
    assert not any(word in plain.resolved() for word in ("llc", "directory"))
    assert not any("llc" in key or "directory" in key for key in plain.design())
    assert load_machine_text(resolved, "a text").resolved() == resolved


def test_machine_file_holds_the_home_only_if_it_names_one() -> None:
    assert "[home]" not in load_machine("s80").resolved() and "home.kind" not in load_machine("s80").design()
    for kind in ("bus", "directory"):
        machine = load_machine("s80", {"home.kind": kind})
        assert f'[home]\nkind = "{kind}"\n' in machine.resolved() and machine.design()["home.kind"] == kind


def test_machine_file_holds_translation_only_if_not_that_of_the_guest() -> None:
    """So that machines which have never heard of it stay what they were."""
    assert "translation" not in load_machine("s80", {"translation.walks": "x86"}).resolved()
    hashed = load_machine("s80", {"translation.walks": "hashed"})
    assert '[translation]\nwalks = "hashed"\nentries = 1024\npage_table = 67108864\n' in hashed.resolved()
    assert hashed.design()["translation.walks"] == "hashed"


def test_machine_file_holds_bandwidth_only_if_limited() -> None:
    assert "bandwidth" not in load_machine("s80", {"bandwidth.banks": 1}).resolved()
    queues = load_machine("s80", {"bandwidth.memory": 40, "bandwidth.banks": 4})
    assert "[bandwidth]\nbus = 0\nmemory = 40\nbanks = 4\n" in queues.resolved()


def test_machine_file_holds_load_processors_only_if_set() -> None:
    assert "load_processors" not in load_machine("s80").resolved()
    assert "isolcpus" not in load_machine("s80").kernel_args()
    apart = load_machine("s80", {"guest.load_processors": 2})
    assert "load_processors = 2\n" in apart.resolved()
    assert apart.kernel_args().endswith(" isolcpus=16-17")
    assert load_machine("p4-2ghz-clients").kernel_args().endswith(" isolcpus=1-1")


@pytest.mark.parametrize("apart", [18, 1])
def test_load_processors_that_leave_no_whole_server_core_are_refused(apart: int) -> None:
    threads = {18: 1, 1: 2}[apart]
    with pytest.raises(
        UserError,
        match=f"guest.load_processors = {apart} must leave at least one core, and only complete cores, to the server",
    ):
        load_machine("s80", {"guest.load_processors": apart, "processors.threads_per_core": threads})


def test_description_with_special_characters_survives(tmp_path: Path) -> None:
    """A surrogate pair is no TOML, and DEL must be escaped there."""
    machine = load_machine("s80", {"description": 'fast \N{ROCKET}, "quoted" \x7f\ttabbed'})
    (tmp_path / "machine.toml").write_text(machine.resolved())
    assert load(tmp_path / "machine.toml", Machine).description == machine.description


def test_missing_key_is_named(tmp_path: Path) -> None:
    text = (paths.MACHINES / "s80.toml").read_text().replace("ways = 4\n", "", 1)
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(UserError, match=r"m.toml: the key `l2.ways` is missing"):
        load(tmp_path / "m.toml", Machine)


def test_broken_toml_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text("name = \n")
    with pytest.raises(UserError, match=r"m.toml: is not TOML: .*line 1"):
        load(tmp_path / "m.toml", Machine)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" + ".a" * 100_000 + " = 1\n", r"m.toml: is larger than 64 KiB"),
        ("x = " + "[" * 20_000 + "]" * 20_000 + "\n", r"m.toml: tables and lists are nested more than 32 levels deep"),
    ],
)
def test_machine_file_that_would_take_gigabytes_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(UserError, match=message):
        load(tmp_path / "m.toml", Machine)


def test_sets_must_be_a_power_of_two() -> None:
    with pytest.raises(UserError, match=r"l2.size = 3145728 bytes in 4 ways of 128-byte lines makes 6144 sets"):
        load_machine("s80", {"l2.size": "3MiB"})


def test_machine_with_odd_ways_and_power_of_two_sets_is_accepted() -> None:
    assert load_machine("s80", {"l2.size": "3MiB", "l2.ways": 3}).l2.size == 3 << 20


def test_provenance_of_an_unknown_key_is_refused() -> None:
    with pytest.raises(UserError, match=r"has an entry for `l9.size`, which is not a key of a machine file"):
        load_machine("s80", {"provenance": {"l9.size": "assumed: nothing"}})


def test_resolved_machine_has_sizes_in_bytes(tmp_path: Path) -> None:
    machine = load_machine("s80", {"l2.size": "4MiB"})
    resolved = tmp_path / "machine.toml"
    resolved.write_text(machine.resolved())
    assert "size = 4194304" in machine.resolved()
    assert load(resolved, Machine) == machine.model_copy(update={"provenance": {}})


def test_low_ram_ends_below_the_pci_hole() -> None:
    assert low_ram(2 * GIB) == 2 * GIB
    assert low_ram(7 * GIB // 2 - 1) == 7 * GIB // 2 - 1
    assert low_ram(7 * GIB // 2) == 3 * GIB
    assert low_ram(8 * GIB) == 3 * GIB


def test_unknown_experiment_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"no experiment `another` in configs/experiments: allowed are clientscaler, figure1, "
    ):
        load_experiment("another", {})


def test_unknown_experiment_key_is_refused() -> None:
    with pytest.raises(UserError, match=r"imapb.toml: unknown key `sedes`: .*did you mean seeds\?"):
        load_experiment("imapb", {"sedes": [1]})


def test_unknown_key_of_a_phase_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (paths.EXPERIMENTS / "imapb.toml").read_text().replace("sampling_interval =", "sampling_intervals =", 1)
    (tmp_path / "x.toml").write_text(text)
    monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path)
    with pytest.raises(UserError, match=r"x.toml: unknown key `phases.tiny.sampling_intervals`: .*did you mean sampl"):
        load_experiment("x", {})


def lay(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """Experiments in place of the laboratory's."""
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    monkeypatch.setattr(paths, "EXPERIMENTS", folder)


WHOLE = """description = "d"
machine = "s80"
workload = "imapb"
scale = "tiny"
seeds = [1, 2]
[phases.tiny]
warmup_min = 300
warmup_max = 400
sampling_interval = 20
measure = 500
[sweep]
clients = [1, 2]
"""


def test_experiment_overrides_its_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(
        tmp_path,
        monkeypatch,
        whole=WHOLE,
        other='base = "whole"\nworkload = "imape"\n[phases.tiny]\nmeasure = 600\n',
        swept='base = "other"\nseeds = [3]\n[sweep]\nthink_ms = [0]\n',
    )
    whole, other, swept = (load_experiment(name, {}) for name in ("whole", "other", "swept"))
    assert other.phases["tiny"] == whole.phases["tiny"].model_copy(update={"measure": 600})
    assert (other.workload, other.seeds, other.sweep) == ("imape", [1, 2], {"clients": [1, 2]})
    assert (swept.workload, swept.seeds, swept.sweep) == ("imape", [3], {"think_ms": [0]})


def test_error_names_the_experiment_file_with_the_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(
        tmp_path,
        monkeypatch,
        whole=WHOLE.replace("sampling_interval", "intervals"),
        other='base = "whole"\n',
        none='base = "hole"\n',
        ring='base = "rung"\n',
        rung='base = "ring"\n',
    )
    with pytest.raises(UserError, match=r"whole.toml: unknown key `phases.tiny.intervals`"):
        load_experiment("other", {})
    with pytest.raises(
        UserError, match=r"none.toml: key `base`: there is no experiment `hole` to use as base: .*did you mean whole\?"
    ):
        load_experiment("none", {})
    with pytest.raises(UserError, match=r"rung.toml: key `base`: the bases form a cycle: ring -> rung -> ring"):
        load_experiment("ring", {})


def test_scale_without_phases_is_refused() -> None:
    with pytest.raises(
        UserError,
        match=r"imapb cannot run at scale `huge`, because there is no table \[phases.huge\]: allowed are paper, ",
    ):
        load_experiment("imapb", {"scale": "huge"})


@pytest.mark.parametrize("name", ["tiny", "small", "paper"])
def test_scales_hold_their_mail(name: str) -> None:
    scale = load_scale(name)
    assert scale.ram > scale.store_bytes()
    assert f"s80.users={scale.users} " in scale.boot_line()


def test_scale_with_more_users_than_accounts_is_refused() -> None:
    assert load_scale("tiny", {"users": ACCOUNTS}).users == ACCOUNTS
    with pytest.raises(UserError, match=f"key `users`: `.*` is not allowed; write a number of at most {ACCOUNTS}"):
        load_scale("tiny", {"users": ACCOUNTS + 1})


def test_settings_are_toml_where_they_can_be() -> None:
    assert parse_settings(["l2.ways=8", "l2.size=4MiB", "a.b=true"]) == {"l2.ways": 8, "l2.size": "4MiB", "a.b": True}


@pytest.mark.parametrize("setting", ["l2.size", "=4", "l2.size="])
def test_setting_without_key_or_value_is_refused(setting: str) -> None:
    with pytest.raises(UserError, match=r"write KEY=VALUE, for example l2\.size=4MiB"):
        parse_settings([setting])


def test_seed_named_twice_is_refused() -> None:
    with pytest.raises(UserError, match=r"imapb.toml: .*seeds = \[1, 2, 1\] names a seed twice"):
        load_experiment("imapb", {"seeds": [1, 2, 1]})


KINDS: dict[str, tuple[Path, Callable[[str], object]]] = {
    "experiments": (paths.EXPERIMENTS, lambda name: load_experiment(name, {})),
    "machines": (paths.MACHINES, load_machine),
    "profiles": (paths.PROFILES, load_workload),
    "servers": (paths.SERVERS, load_server),
}
FILES = sorted(file for kind in KINDS for file in paths.STUDIES.glob(f"*/{kind}/*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_file_of_a_study_is_found_by_its_name(file: Path) -> None:
    folder, load = KINDS[file.parent.name]
    assert file.stem in names(folder) and find("file", folder, file.stem) == file
    load(file.stem)
    assert check_file(file).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_configuration_names_are_unique_across_folders(kind: str) -> None:
    folder = KINDS[kind][0]
    found = Counter(file.stem for place in paths.places(folder) for file in place.glob("*.toml"))
    assert [name for name, places in found.items() if places > 1] == []


def test_file_of_the_lab_replaces_the_file_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "HOME", tmp_path)
    own = tmp_path / "configs" / "machines" / "e6500.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert find("machine", paths.MACHINES, "e6500") == own


def test_folder_of_a_test_has_no_files_of_studies(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no machine `e6500`"):
        find("machine", tmp_path / "machines", "e6500")


S80 = load_machine("s80").design()
MESI_2M = {"protocol": "mesi", "l2.size": "2MiB"}


def manifest(**changed: Any) -> dict[str, Any]:
    """The manifest of a run as the file of the experiment imapb describes it, with changes."""
    names = {"experiment": "imapb", "engine": "qemu", "machine": "s80", "protocol": "moesi", "image": "debian"}
    rest = {
        "server": "dovecot",
        "workload": "imapb",
        "scale": "small",
        "seed": 7,
        "design": load_machine("s80").design(),
    }
    return {**names, **rest, **changed}


def test_run_as_in_the_file_has_no_differences() -> None:
    assert differences(manifest()) == {}
    assert differences(manifest(seed=99)) == {}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"protocol": "mesi"}, {"protocol": "mesi"}),
        ({"scale": "tiny"}, {"scale": "tiny"}),
        ({"server": "courier", "image": "buildroot"}, {"server": "courier", "image": "buildroot"}),
        (
            {"design": load_machine("s80", {"l2.size": "2MiB", "l2.ways": 8}).design()},
            {"l2.size": "2MiB", "l2.ways": "8"},
        ),
        ({"varied": {"clients": "9"}}, {"clients": "9"}),
    ],
)
def test_changed_value_is_found(changed: dict[str, Any], found: dict[str, str]) -> None:
    assert differences(manifest(**changed)) == found


def test_machine_with_its_own_protocol_differs_only_in_the_machine() -> None:
    machine = load_machine("e6500")
    changed = manifest(machine=machine.name, protocol=machine.protocol, design=machine.design())
    assert differences(changed) == {"machine": "e6500"}


def test_inclusion_that_the_protocol_requires_is_no_difference_of_its_own() -> None:
    design = load_machine("s80", {"l2.inclusion": "exclusive"}).design()
    assert differences(manifest(protocol="hammer", design=design)) == {"protocol": "hammer"}
    assert differences(manifest(protocol="hammer")) == {"protocol": "hammer", "l2.inclusion": "inclusive"}


def test_optional_table_shows_only_the_changed_key() -> None:
    design = load_machine("s80", {"bandwidth.bus": 4}).design()
    assert differences(manifest(design=design)) == {"bandwidth.bus": "4"}


def test_setting_of_the_guest_is_found_although_no_design_has_it() -> None:
    guest = load_machine("s80").guest.model_dump()
    assert find_differences(manifest(), guest) == {}
    assert find_differences(manifest(), {**guest, "kernel_args": "quiet"}) == {"guest.kernel_args": "quiet"}


def test_machine_without_a_file_is_compared_with_the_machine_of_the_experiment() -> None:
    design = load_machine("s80", {"l2.size": "4MiB"}).design()
    assert differences(manifest(machine="mine", design=design)) == {"machine": "mine", "l2.size": "4MiB"}


def test_protocol_without_a_table_in_the_lab_leaves_the_machine_comparable() -> None:
    found = differences(manifest(protocol="mine", design=S80 | {"l2.size": 2 << 20}))
    assert found == {"protocol": "mine", "l2.size": "2MiB"}


def test_recorded_differences_hold_after_the_file_has_changed() -> None:
    assert differences(manifest(differences={"l2.ways": "16"})) == {"l2.ways": "16"}


def test_key_of_an_older_machine_file_is_left_out() -> None:
    assert differences(manifest(design={"clock.turn_instructions": 100})) == {}


def test_label_and_name_show_what_differs() -> None:
    assert label("imapb", MESI_2M) == "imapb · mesi · l2.size=2MiB"
    assert label("imapb", {}) == "imapb"
    assert slug(MESI_2M) == "-mesi-l2.size=2MiB"
    assert slug({}) == slug({"scale": "tiny"}) == ""


def test_long_value_is_replaced_by_a_hash_that_tells_values_apart() -> None:
    (one,), (other,) = words({"guest.kernel_args": "quiet " * 9}), words({"guest.kernel_args": "quiet " * 8})
    assert one.startswith("guest.kernel_args=#") and len(one) == len("guest.kernel_args=#") + 6
    assert one != other
    many = {f"latency.l{number}": "110" for number in range(20)}
    assert len(slug(many)) == 9 and slug(many) != slug({**many, "latency.l0": "120"})
