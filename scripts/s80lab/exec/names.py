# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of a program's code and data: functions, lines of the source, variables and fields, by the ELF files that the
processes mapped when the access happened."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from s80lab.analysis.misses.debug_files import DebugFiles, own_lines
from s80lab.analysis.misses.fields import Fields
from s80lab.analysis.misses.functions import Program, program
from s80lab.analysis.misses.memory import MemoryMap
from s80lab.analysis.misses.names import NAMELESS
from s80lab.analysis.misses.processes import AnonymousMapping, FileMapping, Object, Process, Processes
from s80lab.analysis.misses.variables import MANGLED, Variable, Variables, demangled
from s80lab.base.errors import UserError
from s80lab.exec.compiled import Compiled
from s80lab.exec.libraries import is_elf
from s80lab.exec.shape import RANGE, RANGE_AT
from s80lab.exec.tree import real_path
from s80lab.guest.kernel.elf import Elf, Load
from s80lab.guest.kernel.facts import Kernel

KERNEL_HALF = 1 << 63
UNNAMED = "?"
COMPILED = "compiled"
NO_ADDRESS = (1 << 64) - 1
_PAGE = 4096
# How the name of glibc's dynamic loader begins, and the alignment of what its allocator gives (max_align_t of x86-64).
_LOADER = "ld-linux"
_ALLOCATED_ALIGNMENT = 16
# Parts of files that begin before an address and are tried: a program that another one replaced may have lain there.
_TRIED = 8


@dataclass(frozen=True)
class Code:
    """Where an instruction is. file: name of the program or library, `kernel`, or empty. function: its name, or
    `+0xaddress` for one without a name; `?` if the file is unknown. line: `file.c:12`, if there are line numbers."""

    file: str
    function: str
    line: str = ""

    @property
    def named(self) -> str:
        """`libz.so.1: deflate`; of the kernel `down_read`."""
        return self.function if self.file in ("", "kernel") else f"{self.file}: {self.function}"


@dataclass(frozen=True)
class Data:
    """What a byte belongs to. kind: `variable`, `heap`, `memory` without a file, `file`, `kernel`, or `?`: unknown.
    name: the variable, the file, or of memory `[heap]`, `[stack]`, `[stack:TID]` or `[anon]`. field: the name with the
    path in the variable, `stats[3].hits`; empty without a variable. declared: `file.c:12`."""

    kind: str
    name: str
    field: str = ""
    declared: str = ""

    @property
    def full(self) -> str:
        """`stats[3].hits`"""
        return self.field or self.name


# Process, virtual address, simulated time, physical address or NO_ADDRESS, and the bytes from there, a power of two.
Place = tuple[int, int, int, int, int]
# Memory of the kernel that was free again at the end, or whose line is not known.
FREED = Data("?", "kernel memory")
HANDED_OVER = Data("kernel", "kernel: files of the guest")
# Areas of the kernel's addresses that hold one kind of data: Documentation/arch/x86/x86_64/mm.rst of Linux.
_AREAS = {
    "kernel: vmalloc or kernel stack": range(0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000),
    "kernel: struct page": range(0xFFFF_EA00_0000_0000, 0xFFFF_EB00_0000_0000),
}


@dataclass(frozen=True)
class _File:
    """An ELF file of the guest. whole: the file with the most symbols, its debug file or itself."""

    elf: Elf
    whole: Elf

    @cached_property
    def functions(self) -> Program:
        return program(self.elf, self.whole)

    @cached_property
    def loads(self) -> list[Load]:
        return self.elf.loads()


@dataclass(frozen=True)
class _Module:
    """A loaded part of a file in a process: its addresses, when it was mapped, and how far it is from the linked
    addresses."""

    begin: int
    end: int
    ns: int
    path: str
    shift: int


@dataclass
class Names:
    """Finds names. files: the host's file of each path of the guest. memory: the guest's memory at the end. compiled:
    the code that each process compiled. Each name is looked up once."""

    files: Mapping[str, Path]
    processes: Processes
    kernel: Kernel
    memory: MemoryMap
    debug: DebugFiles = field(default_factory=DebugFiles)
    compiled: Mapping[int, Compiled] = field(default_factory=dict)
    _elves: dict[str, _File | None] = field(default_factory=dict)
    _variables: dict[str, Variables] = field(default_factory=dict)
    _places: dict[int, list[tuple[str, int, int]]] = field(default_factory=dict)
    _modules: dict[int, tuple[list[int], list[_Module]]] = field(default_factory=dict)

    def code(self, places: Iterable[tuple[int, int, int]], lines: bool = True) -> dict[tuple[int, int, int], Code]:
        """The code at each place: process, address, simulated time. lines: with the lines of the source."""
        found: dict[tuple[int, int, int], Code] = {}
        wanted: dict[str, dict[int, list[tuple[int, int, int]]]] = {}
        for place in dict.fromkeys(places):
            tgid, pc, ns = place
            if pc >= KERNEL_HALF:
                at = self.kernel.symbols.find(pc)
                found[place] = Code("kernel", at[0].name if at else UNNAMED)
                continue
            if compiled := self._compiled(tgid, pc, ns):
                found[place] = Code(COMPILED, compiled)
                continue
            mapping = self.processes.code(tgid, pc, ns)
            file = None if mapping is None else self._file(mapping.path)
            if mapping is None or file is None:
                found[place] = Code("" if mapping is None else _name(mapping.path), UNNAMED)
                continue
            address = file.elf.loaded(mapping.offset_of(pc))
            if address is None:
                found[place] = Code(_name(mapping.path), UNNAMED)
                continue
            begin, name = file.functions.function(address)
            found[place] = Code(_name(mapping.path), name or f"+{begin:#x}")
            wanted.setdefault(mapping.path, {}).setdefault(address, []).append(place)
        for path, addresses in wanted.items() if lines else ():
            file = self._file(path)
            assert file is not None
            for address, line in own_lines(file.whole.path, sorted(addresses)).items():
                for place in addresses[address]:
                    found[place] = replace(found[place], line=line)
        return _plain(found)

    def _compiled(self, tgid: int, pc: int, ns: int) -> str:
        """The function that a process, or the one that it was forked from, compiled; empty if there is none."""
        seen: set[int] = set()
        while self.compiled and tgid not in seen:
            seen.add(tgid)
            if tgid in self.compiled:
                return self.compiled[tgid].name(pc)
            process = self.processes.process(tgid, ns)
            tgid = process.parent if process is not None and process.parent is not None else tgid
        return ""

    def data(self, places: Iterable[Place]) -> dict[Place, Data]:
        """The data at each place."""
        found: dict[Place, Data] = {}
        wanted: dict[str, dict[int, list[Place]]] = {}
        locals_: dict[str, dict[int, list[Place]]] = {}
        objects: dict[Place, Object] = {}
        for place in dict.fromkeys(places):
            tgid, address, ns, physical, size = place
            if address >= KERNEL_HALF:
                found[place] = self._kernel_data(address, physical, size)
                continue
            process = self.processes.process(tgid, ns)
            if process is None:
                found[place] = Data("?", UNNAMED)
                continue
            mapping = process.mapping(address, ns)
            module = self._module(process, address, ns)
            if module is not None:
                path, linked = module
                found[place] = Data("file", _name(path))
                if size > 1:  # it may have many variables
                    continue
                wanted.setdefault(path, {}).setdefault(linked, []).append(place)
            elif isinstance(mapping, FileMapping):
                found[place] = Data("file", _name(mapping.path))
            elif (local := self._thread_local(process, address, size)) is not None:
                path, offset = local
                locals_.setdefault(path, {}).setdefault(offset, []).append(place)
            elif (allocated := process.allocated(address, ns)) is not None and (
                address + size <= allocated.begin + allocated.size and not _is_stack(mapping, allocated)
            ):
                if (local := self._loaded_thread_local(process, address, allocated)) is None:
                    objects[place] = allocated
                else:
                    locals_.setdefault(local[0], {}).setdefault(local[1], []).append(place)
            elif isinstance(mapping, AnonymousMapping):
                found[place] = Data("memory", f"{mapping.name} of {process.name}")
            else:
                found[place] = Data("?", UNNAMED)
        found |= self._heap_data(objects)
        for path, offsets in locals_.items():
            ordered = sorted(offsets)
            for offset, variable in zip(ordered, self._variables_of(path).thread_locals(ordered), strict=True):
                local_data = Data("file", _name(path)) if variable is None else _thread_local_data(variable)
                found.update(dict.fromkeys(offsets[offset], local_data))
        for path, addresses in wanted.items():
            ordered = sorted(addresses)
            for address, variable in zip(ordered, self._variables_of(path).names(ordered), strict=True):
                if variable is not None:
                    found.update(dict.fromkeys(addresses[address], _data(variable)))
        return found

    def _heap_data(self, objects: Mapping[Place, Object]) -> dict[Place, Data]:
        """Objects of the allocator are named by the call that made them."""
        calls = {place: (place[0], one.caller - 1, one.ns) for place, one in objects.items()}
        code = self.code(calls.values())
        found = {}
        for place, one in objects.items():
            caller = code[calls[place]]
            name = f"object of {caller.function} {caller.line}".rstrip()
            offset = place[1] - one.begin
            found[place] = Data("heap", name, f"{name}+{offset:#x}" if offset else name, caller.line)
        return found

    def _kernel_data(self, address: int, physical: int, size: int) -> Data:
        if RANGE_AT <= physical < RANGE_AT + RANGE:
            return HANDED_OVER
        location = None if physical == NO_ADDRESS else self.memory.locate(physical, self.kernel.symbols)
        if location is None or location.what.kind in NAMELESS:
            return next((Data("kernel", name) for name, area in _AREAS.items() if address in area), FREED)
        name = f"kernel: {location.what}"
        field = self._fields.name(location) if size == 1 else ""
        return Data("kernel", name, f"kernel: {field}" if field else name)

    @cached_property
    def _fields(self) -> Fields:
        return Fields(self.kernel.types, self.memory)

    def _variables_of(self, path: str) -> Variables:
        if path not in self._variables:
            file = self._file(path)
            assert file is not None
            self._variables[path] = Variables(file.elf, self.debug)
        return self._variables[path]

    def _thread_local(self, process: Process, address: int, size: int) -> tuple[str, int] | None:
        """The file that has the thread-local variable at an address, and the offset in the file's segment."""
        thread = process.thread(address + size - 1) if size == 1 else None
        if thread is None:
            return None
        below = thread[0] - address
        if id(process) not in self._places:
            self._places[id(process)] = list(self._places_of(process))
        for path, offset, length in self._places[id(process)]:
            if offset - length < below <= offset:
                return path, offset - below
        return None

    def _places_of(self, process: Process) -> Iterator[tuple[str, int, int]]:
        """How far the thread-local data of each file begin below the end, and their bytes: the rule of
        _dl_determine_tlsoffset of glibc (elf/dl-tls.c), for files whose segments begin aligned."""
        end = top = bottom = 0
        for path in process.first_files():
            file = self._file(path)
            segment = file.elf.thread_local_segment if file is not None else None
            if segment is None or not segment.size:
                continue
            align = max(segment.alignment, 1)
            if bottom - top >= segment.size and (offset := _up(top + segment.size, align)) <= bottom:
                top = offset
            else:
                offset = _up(end + segment.size, align)
                if offset > end + segment.size + bottom - top:
                    top, bottom = end, offset - segment.size
                end = offset
            yield path, offset, segment.size

    def _loaded_thread_local(self, process: Process, address: int, one: Object) -> tuple[str, int] | None:
        """The library that dlopen loaded whose thread-local data the object holds, and the offset in its segment.

        glibc's loader asks the allocator for them when a thread first uses them: for the segment's size, and for its
        alignment too where that is above the allocator's (allocate_dtv_entry, elf/dl-tls.c). None if several fit.
        """
        caller = self._module(process, one.caller, one.ns)
        if caller is None or not _name(caller[0]).startswith(_LOADER):
            return None
        found = set()
        for path in {mapping.path for ns, mapping in process.files() if ns <= one.ns} - set(process.first_files()):
            file = self._file(path)
            segment = file.elf.thread_local_segment if file is not None else None
            if segment is None or not segment.size:
                continue
            align = segment.alignment if segment.alignment > _ALLOCATED_ALIGNMENT else 1
            offset = address - _up(one.begin, align)
            if one.size == segment.size + (align if align > 1 else 0) and 0 <= offset < segment.size:
                found.add((path, offset))
        return found.pop() if len(found) == 1 else None

    def _module(self, process: Process, address: int, ns: int) -> tuple[str, int] | None:
        """The ELF file to whose loaded parts the address belongs, and the linked address; also for its zeroed data,
        which the kernel maps without a file."""
        if id(process) not in self._modules:
            self._modules[id(process)] = self._modules_of(process)
        begins, modules = self._modules[id(process)]
        last = bisect_right(begins, address)
        found: _Module | None = None
        for one in modules[max(last - _TRIED, 0) : last]:
            if address < one.end and one.ns <= ns and (found is None or one.ns >= found.ns):
                found = one
        return None if found is None else (found.path, address - found.shift)

    def _modules_of(self, process: Process) -> tuple[list[int], list[_Module]]:
        """The loaded parts of all ELF files that a process ever mapped, by address."""
        found: dict[tuple[int, int, str], _Module] = {}
        for ns, mapping in process.files():
            file = self._file(mapping.path)
            loads = file.loads if file is not None else []
            shown = next((load for load in loads if load.offset // _PAGE * _PAGE == mapping.offset), None)
            if shown is None:
                continue
            shift = mapping.begin - shown.address // _PAGE * _PAGE
            for load in loads:
                begin, end = load.address + shift, load.address + load.memory + shift
                found.setdefault((begin, end, mapping.path), _Module(begin, end, ns, mapping.path, shift))
        modules = sorted(found.values(), key=lambda one: one.begin)
        return [one.begin for one in modules], modules

    def _file(self, path: str) -> _File | None:
        if path not in self._elves:
            self._elves[path] = None
            host = self._by_real_path.get(real_path(path) if path.startswith("/") else path)
            if host is not None and is_elf(host):
                try:
                    elf = Elf(host)
                    debug = self.debug.find(elf.build_id)
                    self._elves[path] = _File(elf, Elf(debug) if debug is not None else elf)
                except UserError:
                    pass
        return self._elves[path]

    @cached_property
    def _by_real_path(self) -> dict[str, Path]:
        return {real_path(path): host for path, host in self.files.items()}


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _thread_local_data(variable: Variable) -> Data:
    return Data("variable", variable.name, f"{variable.field} (thread-local)", variable.source)


def _is_stack(mapping: FileMapping | AnonymousMapping | None, allocated: Object) -> bool:
    """Whether the object is the memory of a whole stack, which a program gets by mmap."""
    is_stack = isinstance(mapping, AnonymousMapping) and mapping.name.startswith("[stack")
    return is_stack and mapping is not None and allocated.size >= mapping.end - mapping.begin


def _plain(found: dict[tuple[int, int, int], Code]) -> dict[tuple[int, int, int], Code]:
    """The code with demangled names."""
    mangled = sorted({code.function for code in found.values() if code.function.startswith(MANGLED)})
    plain = demangled(mangled)
    return {place: replace(code, function=plain.get(code.function, code.function)) for place, code in found.items()}


def _data(variable: Variable) -> Data:
    return Data("variable", variable.name, variable.field, variable.source)
