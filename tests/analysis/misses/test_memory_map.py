# SPDX-License-Identifier: GPL-2.0-or-later
"""What lines of the guest's memory are, against what is known of the guest from elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from s80lab.analysis.misses.memory import FREE, MemoryMap, What, read_map
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.kernel.address_space import Task, mappings, tasks, user_pages
from s80lab.guest.kernel.memory import PAGE, KernelMemory
from s80lab.guest.kernel.pages import Slabs
from s80lab.image.cpio import read_archive

pytestmark = pytest.mark.guest


def of_virtual(memory: KernelMemory, memory_map: MemoryMap, address: int) -> What:
    physical = memory.physical(address)
    assert physical is not None
    return memory_map.find(physical, memory.kernel.symbols)


@pytest.fixture(scope="session")
def imap(memory: KernelMemory) -> Task:
    return next(task for task in tasks(memory) if task.comm == "imap")


def test_page_cache_frames_have_path_and_content_of_the_file(memory: KernelMemory, memory_map: MemoryMap) -> None:
    contents = {entry.path: entry.data for entry in read_archive(paths.BUILD / "image" / "debian" / "initramfs.cpio")}
    for path in ("usr/bin/s80-loadgen", "usr/lib/dovecot/imap"):
        number = memory_map.names.index(What("page cache", f"/{path}"))
        frames = np.flatnonzero(memory_map.page == number)
        whole = {contents[path][at : at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(contents[path]), PAGE)}
        assert len(frames) >= len(whole) // 2
        assert all(memory.ram.read(frame * PAGE, PAGE) in whole for frame in frames.tolist())


def test_mail_is_named_by_user_and_mailbox(memory_map: MemoryMap) -> None:
    mail = [what.name for what in memory_map.names if what.kind == "page cache" and "user001" in what.name]
    assert any(name.endswith("/user001/inbox") for name in mail), mail


def test_variables_of_the_kernel_are_named(memory: KernelMemory, memory_map: MemoryMap) -> None:
    symbols = memory.kernel.symbols
    assert of_virtual(memory, memory_map, symbols.address("init_task")) == What("kernel data", "init_task")
    assert of_virtual(memory, memory_map, symbols.address("do_idle")) == What("kernel text", "do_idle")
    for base in memory.per_cpu("runqueues"):
        assert of_virtual(memory, memory_map, base) == What("per-CPU", "runqueues")
    table = memory.symbol("dentry_hashtable")
    assert of_virtual(memory, memory_map, table) == What("boot memory", "dentry_hashtable")


def test_slabs_are_named_by_their_cache(memory: KernelMemory, memory_map: MemoryMap, imap: Task) -> None:
    assert of_virtual(memory, memory_map, imap.address) == What("slab", "task_struct")
    assert of_virtual(memory, memory_map, imap.mm).kind == "slab"
    caches = memory.entries(memory.kernel.symbols.address("slab_caches"), "kmem_cache.list")
    first = memory.value(next(caches), "kmem_cache.cpu_slab")
    per_processor = memory.per_cpu_offsets[3] + first
    assert of_virtual(memory, memory_map, per_processor).name.startswith("kmem_cache_cpu of ")


def test_merged_caches_have_all_their_names(memory: KernelMemory) -> None:
    """The kernel keeps Unix sockets in the cache of ping sockets, say: /sys/kernel/slab has a link for each."""
    slabs = Slabs(memory)
    names = [slabs.name(cache) for cache in slabs.all()]
    assert any("UNIX" in name.split("/") for name in names)
    assert "dentry" in names and "kmalloc-64" in names  # not merged; merged, but told by its size
    assert len(set(names)) == len(names)


def test_process_owns_its_stack_heap_and_page_tables(memory: KernelMemory, memory_map: MemoryMap, imap: Task) -> None:
    assert of_virtual(memory, memory_map, imap.stack + 4 * PAGE - 8) == What("kernel stack", "imap")
    table = memory.value(imap.mm, "mm_struct.pgd") - memory.direct
    assert memory_map.of_page(table // PAGE) == What("page table", "imap")
    heap = memory.walk(table, memory.value(imap.mm, "mm_struct.start_brk"))
    assert heap is not None and memory_map.of_page(heap // PAGE) == What("anonymous", "imap, heap")
    stack = memory.walk(table, memory.value(imap.mm, "mm_struct.start_stack"))
    assert stack is not None and memory_map.of_page(stack // PAGE) == What("anonymous", "imap, stack")


def test_struct_page_names_the_page_that_it_describes(memory: KernelMemory, memory_map: MemoryMap) -> None:
    number = memory_map.names.index(What("page cache", "/usr/bin/s80-loadgen"))
    frame = int(np.flatnonzero(memory_map.page == number)[0])
    what = of_virtual(memory, memory_map, memory.vmemmap + 64 * frame)
    assert what == What("struct page", "page cache: /usr/bin/s80-loadgen")


def test_nearly_every_page_in_use_has_a_name(memory_map: MemoryMap) -> None:
    kinds: Counter[str] = Counter()
    for number, count in Counter(memory_map.page.tolist()).items():
        kinds[memory_map.names[number].kind] += count
    used = kinds.total() - kinds[FREE]
    assert kinds["allocated"] < 0.05 * used, kinds


def test_mappings_are_those_that_the_page_tables_fill(memory: KernelMemory, imap: Task) -> None:
    """Two structures of the kernel, read apart from each other: every present page lies in a mapping."""
    areas = mappings(memory, imap.mm)
    assert len(areas) == memory.value(imap.mm, "mm_struct.map_count")
    pages, tables = user_pages(memory, imap.mm)
    assert len(pages) > 200 and len(tables) > 5
    assert all(any(area.begin <= page * PAGE < area.end for area in areas) for page in pages)


def test_memory_map_is_read_as_written_and_truncated_map_refused(
    memory: KernelMemory, memory_map: MemoryMap, tmp_path: Path
) -> None:
    memory_map.write(tmp_path / "map.npz")
    again = read_map(tmp_path / "map.npz")
    assert (again.page == memory_map.page).all()
    assert (again.names, again.per_cpu, again.files) == (memory_map.names, memory_map.per_cpu, memory_map.files)
    (tmp_path / "map.npz").write_bytes((tmp_path / "map.npz").read_bytes()[:1000])
    with pytest.raises(UserError, match="the map of the guest's memory cannot be read"):
        read_map(tmp_path / "map.npz")
