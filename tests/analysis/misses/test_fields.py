# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of fields, from a map made by hand and type information that gcc writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.btf import compiled_types

from s80lab.analysis.misses.fields import Fields
from s80lab.analysis.misses.memory import PER_CPU, STRUCT_PAGE, Location, MemoryMap, PerCpu, SlabCache, What, read_map
from s80lab.guest.kernel.memory import PAGE
from s80lab.guest.kernel.symbols import Symbol, Symbols
from s80lab.guest.kernel.types import Types

SOURCE = """
struct dentry { int flags; void *parent; long spare[6]; } a_dentry;
struct file { long mode; long position; } a_file;
struct page { long flags; union { long a, b, c, d; }; long rest[6]; } a_page;
struct task_struct { long state; char registers[4096]; } a_task;
struct runqueue { int lock; int running; } runqueues;
struct tcp_mib { unsigned long counts[4]; };
struct netns_mib { struct tcp_mib *tcp_statistics; } a_mib;
struct kmem_cache_cpu { void *freelist; } a_cpu;
"""
SYMBOLS = Symbols(
    [
        Symbol(0x100, "D", "runqueues"),
        Symbol(0x800, "D", "__per_cpu_end"),
        Symbol(0xFFFF_FFFF_8000_0000, "T", "_text"),
    ]
)
# Frames: 0 and 1 a slab of two pages with dentries, 2 kmalloc, 3 merged, 4 task_struct, 5 struct page, 6 per-CPU.
NAMES = [
    What("slab", "dentry"),
    What("slab", "kmalloc-64"),
    What("slab", "filp/other"),
    What("slab", "task_struct"),
    What(STRUCT_PAGE, ""),
    What(PER_CPU, ""),
    What("page cache", "/bin/sh"),
]


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Types:
    return compiled_types(SOURCE, tmp_path_factory.mktemp("types"))


@pytest.fixture
def memory_map() -> MemoryMap:
    return MemoryMap(
        names=NAMES,
        page=np.array([0, 0, 1, 2, 3, 4, 5, 6], dtype=np.uint32),
        per_cpu=PerCpu(
            [6 * PAGE], PAGE, [(0x900, 32, "init_net.mib.tcp_statistics"), (0xA00, 8, "kmem_cache_cpu of x")]
        ),
        struct_pages=[(5 * PAGE, 0)],
        struct_page_bytes=64,
        kernel="kernel",
        files={},
        slab_page=np.array([0, 1, 0, 0, 0, 0, 0, 0], dtype=np.uint16),
        slabs={
            "dentry": SlabCache(192, 192, merged=False),
            "kmalloc-64": SlabCache(64, 64, merged=True),
            "filp/other": SlabCache(256, 256, merged=True),
            "task_struct": SlabCache(1024, 1024, merged=False),
        },
    )


@pytest.mark.parametrize(
    ("physical", "name"),
    [
        (0, "dentry.flags"),
        (192 + 8, "dentry.parent"),
        (PAGE + 21 * 192 + 192 - PAGE + 4, "dentry+0x4"),  # padding of the 23rd object, in the second page
        (PAGE + 21 * 192 + 192 - PAGE + 24, "dentry.spare[1]"),
        (64 + 100, "dentry+0xa4"),  # behind the structure
        (2 * PAGE + 64 + 8, "kmalloc-64+0x8"),
        (2 * PAGE, "kmalloc-64+0x0"),
        (3 * PAGE + 256, "filp/other+0x0"),
        (4 * PAGE + 1024, "task_struct.state"),  # larger than its objects
        (5 * PAGE + 64, "page.flags"),
        (5 * PAGE + 64 + 8, "page+0x8"),  # four members
        (6 * PAGE + 0x104, "runqueues.running"),
        (6 * PAGE + 0x120, "runqueues+0x20"),
        (6 * PAGE + 0x910, "tcp_mib.counts[2]"),
        (6 * PAGE + 0xA00, "kmem_cache_cpu.freelist"),
        (6 * PAGE + 0xB00, ""),
        (7 * PAGE, ""),
    ],
)
def test_field_at_an_address(memory_map: MemoryMap, types: Types, physical: int, name: str) -> None:
    assert Fields(types, memory_map).name(memory_map.locate(physical, SYMBOLS)) == name


def test_structure_larger_than_the_objects_is_not_taken(memory_map: MemoryMap, types: Types) -> None:
    """The cache `filp` holds `struct file`; objects of 8 bytes cannot be such structures."""
    memory_map.slabs["filp"] = SlabCache(8, 8, merged=False)  # type: ignore[index]
    assert Fields(types, memory_map).name(Location(What("slab", "filp"), "filp", 0)) == "filp+0x0"
    memory_map.slabs["filp"] = SlabCache(16, 16, merged=False)  # type: ignore[index]
    assert Fields(types, memory_map).name(Location(What("slab", "filp"), "filp", 8)) == "file.position"


def test_variable_of_the_kernel_without_type_has_an_offset(memory_map: MemoryMap, types: Types) -> None:
    fields = Fields(types, memory_map)
    data = What("kernel data", "tk_core")
    assert fields.name(Location(data, "tk_core", 0x40)) == "tk_core+0x40"
    assert fields.name(Location(data, "jiffies", 0)) == "jiffies"


def test_map_without_objects_is_read(memory_map: MemoryMap, types: Types, tmp_path: Path) -> None:
    """Maps of earlier versions have neither `slabs` nor `slab_page`."""
    memory_map.write(tmp_path / "map.npz")
    again = read_map(tmp_path / "map.npz")
    assert again.slabs == memory_map.slabs and again.locate(200, SYMBOLS) == memory_map.locate(200, SYMBOLS)
    with np.load(tmp_path / "map.npz") as content:
        texts = json.loads(content["texts"].tobytes())
        del texts["slabs"]
        older = {"page": content["page"], "texts": np.frombuffer(json.dumps(texts).encode(), np.uint8)}
    np.savez_compressed(tmp_path / "older.npz", **older)
    old = read_map(tmp_path / "older.npz")
    assert Fields(types, old).name(old.locate(200, SYMBOLS)) == ""
    assert old.find(200, SYMBOLS) == What("slab", "dentry")
