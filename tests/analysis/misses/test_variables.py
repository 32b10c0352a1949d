# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the data of programs and libraries: variables, fields, types, and lines of declarations."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.dwarf.die import DIE
from tests.analysis.misses.programs_with_variables import CXX, RUST, C, compiled

from s80lab.analysis.misses import variables as module
from s80lab.analysis.misses.debug_files import DebugFiles
from s80lab.analysis.misses.debug_units import Units
from s80lab.analysis.misses.variables import (
    FROM_DEBUG,
    FROM_SECTION,
    FROM_SYMBOL,
    Variable,
    Variables,
)
from s80lab.guest.kernel.elf import Elf, ThreadLocalSegment

NO_DEBUG = DebugFiles([])
KINDS = {
    "position-independent": ["-DPROGRAM", "-fPIE", "-pie", "-O2"],
    "fixed": ["-DPROGRAM", "-fno-pie", "-no-pie"],
    "static": ["-DPROGRAM", "-static"],
    "library": ["-shared", "-fPIC", "-O1"],
}
VERSIONS = {
    "dwarf-4": ["-gdwarf-4"],
    "dwarf-5": ["-gdwarf-5"],
    "compressed": ["-gdwarf-5", "-gz=zlib"],
    "old-compressed": ["-gdwarf-4", "-gz=zlib-gnu"],
    "type-units": ["-gdwarf-5", "-fdebug-types-section"],
}


def addresses(path: Path) -> dict[str, int]:
    return {symbol.name: symbol.address for symbol in Elf(path).objects()}


def found(variables: Variables, address: int) -> Variable:
    variable = variables.find(address)
    assert variable is not None
    return variable


def field(variables: Variables, address: int) -> str:
    return found(variables, address).field


def number_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.split("\n"), 1) if text in line)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_c_variables_have_fields_types_and_lines(tmp_path: Path, kind: str, version: str) -> None:
    path = compiled(tmp_path, C, [*KINDS[kind], *VERSIONS[version]])
    variables, at = Variables(Elf(path), NO_DEBUG), addresses(path)
    stats = found(variables, at["stats"] + 3 * 64)
    assert (stats.name, stats.field, stats.offset, stats.size) == ("stats", "stats[3].hits", 192, 512)
    assert (stats.address, stats.type, stats.origin) == (at["stats"], "volatile stat_t[8]", FROM_DEBUG)
    assert stats.source.endswith(f"program.c:{number_of(C, 'stats[8]')}")
    expected = {
        7: "hits",
        8 + 5: "gap[5]",
        32: "whole",  # of a nameless union
        40: "pair.second",
        44: "low",
        45: "high",
        50: "far",
        52: "kind",
        56: "call",
    }
    assert {offset: field(variables, at["stats"] + 64 + offset) for offset in expected} == {
        offset: f"stats[1].{text}" for offset, text in expected.items()
    }
    assert field(variables, at["stats"] + 64 + 47) == "stats[1]+0x2f"  # between two bit fields
    assert field(variables, at["nodes"] + 16 * 5 + 8) == "nodes[1][2].key"
    assert field(variables, at["open_ended"] + 8) == "open_ended.items[2]"
    pointer = found(variables, at["list"])
    assert (pointer.field, pointer.type) == ("list", "const node* const")
    with_debug = [variables.find(address) for name, address in at.items() if re.fullmatch(r"called\.\d+", name)]
    assert {each.field for each in with_debug if each} == {"calls::called[0].next", "other::called"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_cxx_variables_have_qualified_names(tmp_path: Path, kind: str, version: str) -> None:
    path = compiled(tmp_path, CXX, [*KINDS[kind], *VERSIONS[version], "-std=c++17"])
    variables, at = Variables(Elf(path), NO_DEBUG), addresses(path)
    queue = at["_ZN2ns5queue6sharedE"]
    names = [
        (queue + 8, "ns::queue::shared.id"),  # of a base class
        (queue + 16, "ns::queue::shared.head._M_b._M_p"),
        (queue + 25, "ns::queue::shared.size._M_i"),
        (queue + 40, "ns::queue::shared.lanes._M_elems[1]._M_i"),
        (at["_ZN2ns5queue5countE"], "ns::queue::count"),
        (at["_ZN2ns5queue5inner7deepestE"], "ns::queue::inner::deepest.depth"),
        (at["_ZZN2ns5queue11count_callsEvE5calls"], "ns::queue::count_calls::calls._M_i"),
        (at["_ZN2ns5boxesE"] + 8 + 6, "ns::boxes[1].second.second"),
        (at["_ZN12_GLOBAL__N_16hiddenE"] + 8, "(anonymous namespace)::hidden[1]"),
        (at["_ZZ6singleIdERT_vE3one"], "single<double>::one[0]"),
        (at["shared_inline"], "shared_inline"),
    ]
    answers = variables.names([address for address, _ in names])
    assert [(each.field, each.origin) for each in answers if each] == [(name, FROM_DEBUG) for _, name in names]


def offset_from_thread_pointer(segment: ThreadLocalSegment, distance: int) -> int | None:
    """The offset in the executable's segment of thread-local data of the byte that is `distance` bytes from the thread
    pointer (register FS); None if the byte is not in the executable's own block.

    The executable's block ends at the thread pointer, so distances are negative (System V ABI, Thread-local storage,
    variant II of x86-64). Its first address equals the segment's linked address modulo the alignment.
    """
    alignment = max(1, segment.alignment)
    offset = distance + segment.size + (-segment.address - segment.size) % alignment
    return offset if 0 <= offset < segment.size else None


@pytest.mark.parametrize("kind", ["position-independent", "fixed", "static"])
@pytest.mark.parametrize("version", ["dwarf-4", "dwarf-5"])
def test_thread_local_data_is_found_from_the_thread_pointer(tmp_path: Path, kind: str, version: str) -> None:
    path = compiled(tmp_path, C, [*KINDS[kind], *VERSIONS[version]])
    variables = Variables(Elf(path), NO_DEBUG)
    segment = variables.segment
    assert segment is not None and segment.alignment >= 64
    output = subprocess.run([path], capture_output=True, text=True, check=True).stdout
    distances = {name: int(value) for value, name in (line.split(" ", 1) for line in output.splitlines()[-2:])}
    assert list(distances) == ["counters[2]", "last.key"]
    for name, distance in distances.items():
        offset = offset_from_thread_pointer(segment, distance)
        assert offset is not None
        variable = variables.thread_local(offset)
        assert variable is not None and variable.field == name
        assert variable.origin == FROM_DEBUG and variable.source.partition(":")[0].endswith("program.c")
    assert offset_from_thread_pointer(segment, 0) is None
    assert variables.thread_local(segment.size) is None


def test_thread_local_symbols_name_stripped_data(tmp_path: Path) -> None:
    path = compiled(tmp_path, C, ["-DPROGRAM"])
    variables = Variables(Elf(path), NO_DEBUG)
    names = variables.thread_locals([16, 40, 64])
    assert [(each.field, each.origin) for each in names if each] == [
        ("counters+0x10", FROM_SYMBOL),
        ("last", FROM_SYMBOL),
    ]
    subprocess.run(["strip", path], check=True)
    (each,) = Variables(Elf(path), NO_DEBUG).thread_locals([72])
    assert each is not None and (each.field, each.origin) == (".tbss+0x8", FROM_SECTION)


def test_stripped_file_uses_its_debug_file(tmp_path: Path) -> None:
    path = compiled(tmp_path, C, ["-DPROGRAM", "-g", "-Wl,--build-id"])
    stats, build_id = addresses(path)["stats"], Elf(path).build_id
    place = tmp_path / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    place.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", path, place], check=True)
    subprocess.run(["strip", path], check=True)
    variables = Variables(Elf(path), DebugFiles([tmp_path / "debug"]))
    assert variables.debug_file == place and field(variables, stats + 64) == "stats[1].hits"
    bare = Variables(Elf(path), NO_DEBUG)
    assert bare.debug_file is None and found(bare, stats + 64).origin == FROM_SECTION


@pytest.mark.parametrize("folder", [".", ".debug"])
def test_debug_link_is_followed_beside_the_program(tmp_path: Path, folder: str) -> None:
    path = compiled(tmp_path, C, ["-DPROGRAM", "-g", "-Wl,--build-id=none"])
    stats, debug = addresses(path)["stats"], tmp_path / folder / "program.debug"
    debug.parent.mkdir(exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", path], check=True)
    variables = Variables(Elf(path), NO_DEBUG)
    assert variables.debug_file == debug and field(variables, stats + 64) == "stats[1].hits"
    debug.write_bytes(debug.read_bytes() + b"\0")  # another build
    assert Variables(Elf(path), NO_DEBUG).debug_file is None


def test_symbols_and_sections_name_data_without_debug_information(tmp_path: Path) -> None:
    path = compiled(tmp_path, C, ["-shared", "-fPIC"])
    at, bss = addresses(path), Elf(path).sections[".bss"]
    variables = Variables(Elf(path), NO_DEBUG)
    nodes = found(variables, at["nodes"] + 16)
    assert (nodes.name, nodes.field, nodes.offset, nodes.size) == ("nodes", "nodes+0x10", 16, 96)
    assert (nodes.type, nodes.source, nodes.origin) == ("", "", FROM_SYMBOL)
    subprocess.run(["strip", path], check=True)
    stripped = Variables(Elf(path), NO_DEBUG)
    assert field(stripped, at["nodes"] + 16) == "nodes+0x10"  # exported
    hidden = found(stripped, at["stats"] + 1)
    assert (hidden.field, hidden.origin) == (f".bss+{at['stats'] + 1 - bss.address:#x}", FROM_SECTION)
    assert stripped.find(1 << 40) is None and stripped.names([]) == []


def test_cxx_symbols_are_demangled_if_the_tool_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = compiled(tmp_path, CXX, ["-shared", "-fPIC", "-std=c++17"])
    at = addresses(path)["_ZN2ns5queue6sharedE"]
    assert field(Variables(Elf(path), NO_DEBUG), at + 24) == "ns::queue::shared+0x18"
    monkeypatch.setattr(module, "CXXFILT", str(tmp_path / "missing"))
    assert field(Variables(Elf(path), NO_DEBUG), at + 24) == "_ZN2ns5queue6sharedE+0x18"


def test_types_that_are_elsewhere_leave_the_variable(tmp_path: Path) -> None:
    """Type units of DWARF 4 are in .debug_types, which is not read."""
    path = compiled(tmp_path, C, ["-DPROGRAM", "-gdwarf-4", "-fdebug-types-section"])
    stats = found(Variables(Elf(path), NO_DEBUG), addresses(path)["stats"] + 64)
    assert (stats.field, stats.origin, stats.size) == ("stats+0x40", FROM_DEBUG, 512)


def test_split_debug_information_leaves_symbols(tmp_path: Path) -> None:
    for version in ("-gdwarf-4", "-gdwarf-5"):
        path = compiled(tmp_path, C, ["-DPROGRAM", "-gsplit-dwarf", version])
        assert list(tmp_path.glob("*.dwo"))
        stats = found(Variables(Elf(path), NO_DEBUG), addresses(path)["stats"] + 64)
        assert (stats.field, stats.origin) == ("stats+0x40", FROM_SYMBOL)


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_clang_indexes_addresses_and_names(tmp_path: Path, version: str) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (tmp_path / "program.c").write_text(C)
    command = ["clang", "-DPROGRAM", "-O1", "-g", version, "-o", "program", "program.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    path = tmp_path / "program"
    variables, at = Variables(Elf(path), NO_DEBUG), addresses(path)
    nodes = found(variables, at["nodes"] + 24)
    assert (nodes.field, nodes.type, nodes.origin) == ("nodes[0][1].key", "node[2][3]", FROM_DEBUG)


def test_rust_statics_have_their_modules(tmp_path: Path) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "program.rs").write_text(RUST)
    subprocess.run(["rustc", "-g", "program.rs"], cwd=tmp_path, check=True)
    path = tmp_path / "program"
    variables = Variables(Elf(path), NO_DEBUG)
    names = addresses(path)
    stats = next(address for name, address in names.items() if "STATS" in name)
    calls = next(address for name, address in names.items() if "CALLS" in name)
    variable = found(variables, stats + 2 * 16 + 8)
    assert variable.name == "program::counters::STATS"
    assert variable.field.startswith("program::counters::STATS[2].misses")
    assert variable.source.endswith(f"program.rs:{number_of(RUST, 'static STATS')}")
    assert found(variables, calls).name == "program::counters::calls::CALLS"
    assert variables.segment is not None
    local = {each.name: each for each in variables.thread_locals(range(variables.segment.size)) if each}
    assert local["program::DEPTH"].field.startswith("program::DEPTH.value")
    subprocess.run(["strip", "--strip-debug", path], check=True)
    assert found(Variables(Elf(path), NO_DEBUG), stats + 8).name.startswith("program::counters::STATS")


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("source", [C, CXX], ids=["c", "c++"])
def test_damaged_debug_information_still_gives_names(tmp_path: Path, source: str, version: str) -> None:
    """Each of 200 copies of the file has one damaged byte in its debug information."""
    path = compiled(tmp_path, source, ["-DPROGRAM", version, "-std=gnu17" if source is C else "-std=c++17"])
    elf, content = Elf(path), path.read_bytes()
    sections = [section for name, section in elf.sections.items() if name.startswith(".debug_")]
    symbols = [symbol for symbol in elf.objects() if symbol.size]
    wanted = [symbol.address + symbol.size - 1 for symbol in symbols]
    whole = Variables(elf, NO_DEBUG).names(wanted)
    draw = random.Random(version)
    same = 0
    for _ in range(200):
        section = draw.choice(sections)
        place = section.offset + draw.randrange(section.size)
        damaged = bytearray(content)
        damaged[place] ^= draw.randrange(1, 256)
        variables = Variables(Elf(path, bytes(damaged)), NO_DEBUG)
        names = variables.names(wanted)
        for symbol, address, each in zip(symbols, wanted, names, strict=True):
            assert each is not None and each.name and each.origin != FROM_SECTION
            assert each.address <= address and symbol.address <= each.address
        variables.thread_locals(range(128))
        same += names == whole
    assert same >= 100  # most bytes do not concern these variables


def entries(units: Units) -> dict[bytes, DIE]:
    """The named entries of the only unit, without those that they enclose."""
    (unit,) = units._units
    found = ((entry.attributes.get("DW_AT_name"), entry) for entry in units.children(unit.get_top_DIE()))
    return {name.value: entry for name, entry in found if name is not None}


def test_structure_that_contains_itself_ends(tmp_path: Path) -> None:
    """Debug information is changed so that every member of a structure has the structure's type."""
    members = "".join(f"struct inner member{number}; " for number in range(8))
    source = f"struct inner {{ int first; }}; struct outer {{ {members}}} value; int main(void) {{ return 0; }}"
    (tmp_path / "circle.c").write_text(source)
    subprocess.run(["gcc", "-gdwarf-5", "-o", "circle", "circle.c"], cwd=tmp_path, check=True)
    elf = Elf(tmp_path / "circle")
    units = Variables(elf, NO_DEBUG)._units
    assert units is not None
    outer = entries(units)[b"outer"]
    content = bytearray(elf.path.read_bytes())
    for member in units.children(outer):
        begin = elf.sections[".debug_info"].offset + member.attributes["DW_AT_type"].offset
        content[begin : begin + 4] = (outer.offset - outer.cu.cu_offset).to_bytes(4, "little")
    (value,) = (symbol.address for symbol in elf.objects() if symbol.name == "value")
    circle = found(Variables(Elf(elf.path, bytes(content)), NO_DEBUG), value + 4)
    assert (circle.name, circle.field) == ("value", "value.member0+0x4")


def test_file_whose_first_unit_is_damaged_has_symbols(tmp_path: Path) -> None:
    path = compiled(tmp_path, C, ["-DPROGRAM", "-g"])
    content, begin = bytearray(path.read_bytes()), Elf(path).sections[".debug_info"].offset
    content[begin + 4] = 77  # the version
    stats = found(Variables(Elf(path, bytes(content)), NO_DEBUG), addresses(path)["stats"] + 64)
    assert (stats.field, stats.origin) == ("stats+0x40", FROM_SYMBOL)


def test_debug_information_with_a_circle_of_types_ends(tmp_path: Path) -> None:
    source = "typedef int first; typedef first second; second value[3]; int main(void) { return value[1]; }"
    (tmp_path / "circle.c").write_text(source)
    subprocess.run(["gcc", "-gdwarf-5", "-o", "circle", "circle.c"], cwd=tmp_path, check=True)
    elf = Elf(tmp_path / "circle")
    at = {symbol.name: symbol.address for symbol in elf.objects()}["value"]
    units = Variables(elf, NO_DEBUG)
    assert field(units, at + 4) == "value[1]" and units._units is not None
    types = entries(units._units)
    first, second = types[b"first"], types[b"second"]
    begin = elf.sections[".debug_info"].offset + first.attributes["DW_AT_type"].offset
    content = bytearray(elf.path.read_bytes())
    content[begin : begin + 4] = (second.offset - second.cu.cu_offset).to_bytes(4, "little")
    circle = found(Variables(Elf(elf.path, bytes(content)), NO_DEBUG), at + 4)
    assert circle.name == "value" and circle.size == 12
