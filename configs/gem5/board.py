# SPDX-License-Identifier: GPL-2.0-or-later
"""A PC without a disk that boots Linux from an initramfs. It is a board of gem5's standard library and takes any
processor, memory and cache hierarchy, classic or Ruby.

The board describes the processors twice: in the MP table, and in ACPI's MADT for kernels that do not read the MP table
(Debian's cloud kernel).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gem5.components.boards.abstract_board import AbstractBoard
from gem5.components.boards.abstract_system_board import AbstractSystemBoard
from gem5.utils.override import overrides
from m5.objects import (
    Addr,
    AddrRange,
    Bridge,
    IOXBar,
    Pc,
    X86ACPIMadt,
    X86ACPIMadtIntSourceOverride,
    X86ACPIMadtIOAPIC,
    X86ACPIMadtLAPIC,
    X86E820Entry,
    X86FsLinux,
    X86IntelMPBus,
    X86IntelMPBusHierarchy,
    X86IntelMPIOAPIC,
    X86IntelMPIOIntAssignment,
    X86IntelMPProcessor,
    X86SMBiosBiosInformation,
)

# Physical memory ends where the devices' addresses begin.
DEVICES = 0xC000_0000
M5OPS = 0xFFFF_0000
# src/arch/x86/x86_traits.hh of gem5
IO_PORTS = 0x8000_0000_0000_0000
INTERRUPTS = 0xA000_0000_0000_0000
PCI_CONFIG = 0xC000_0000_0000_0000
PAGE = 1 << 12
# Where gem5 puts struct boot_params (FsLinux::initState), and two of its fields (Linux, Documentation/x86/boot.rst).
BOOT_PARAMS = 0x90200
TYPE_OF_LOADER = BOOT_PARAMS + 0x210
SETUP_DATA = BOOT_PARAMS + 0x250
UNDEFINED_LOADER = 0xFF
SETUP_RNG_SEED = 9
# The seed lies below the initramfs, which lies far above the kernel.
INITRAMFS = 0x6000_0000
SEED = INITRAMFS - PAGE
COMMAND_LINE_LIMIT = 511
# Work items: one a transaction type, and one a type that failed (markers.h of the load generator).
WORK_ITEMS = 32


class MailServerBoard(AbstractSystemBoard):
    """The PC: one memory range below 3 GiB, a serial console, no disk."""

    def __init__(self, clock_hz: int, processor: Any, memory: Any, cache_hierarchy: Any) -> None:
        super().__init__(clk_freq=f"{clock_hz}Hz", processor=processor, memory=memory, cache_hierarchy=cache_hierarchy)

    def boot_linux(self, kernel: Path, initramfs: Path, command_line: str, scratch: Path) -> None:
        """kernel: an ELF file. initramfs: an uncompressed cpio archive. scratch: a folder for three small files."""
        if len(command_line) > COMMAND_LINE_LIMIT:
            raise ValueError(
                f"the kernel's command line has {len(command_line)} characters; the limit is {COMMAND_LINE_LIMIT}"
            )
        ram, end = self.get_memory().get_size(), INITRAMFS + initramfs.stat().st_size
        if end > ram:
            raise ValueError(
                f"the initramfs ends at {end / 2**20:.0f} MiB, but the guest has {ram / 2**20:.0f} MiB of memory: "
                "choose a scale with more memory (--scale)"
            )
        # type_of_loader, loadflags, setup_move_size, code32_start, ramdisk_image, ramdisk_size
        loader = struct.pack("<BBHIII", UNDEFINED_LOADER, 0, 0, 0, INITRAMFS, initramfs.stat().st_size)
        # struct setup_data: next, type, length. A bootloader's seed, always the same: the kernel need not gather
        # entropy from jitter, which costs a thousand million instructions.
        seed = struct.pack("<QII", 0, SETUP_RNG_SEED, 32) + bytes(range(1, 33))
        extras = [
            (initramfs, INITRAMFS),
            (_written(scratch / "loader.bin", loader), TYPE_OF_LOADER),
            (_written(scratch / "seed.bin", seed), SEED),
            (_written(scratch / "setup_data.bin", struct.pack("<Q", SEED)), SETUP_DATA),
        ]
        self._set_fullsystem(True)  # creates the workload and the devices since 24.1; until 24.0 the constructor does
        self.workload.object_file = str(kernel)
        self.workload.command_line = command_line
        self.workload.extras = [str(path) for path, _ in extras]
        self.workload.extras_addrs = [address for _, address in extras]

    @overrides(AbstractBoard)
    def _setup_board(self) -> None:
        self.workload = X86FsLinux()
        self.pc = Pc()
        self.iobus = IOXBar()
        self.m5ops_base = M5OPS
        self.num_work_ids = WORK_ITEMS
        self._connect_devices()
        self._describe()

    def _connect_devices(self) -> None:
        hierarchy = self.get_cache_hierarchy()
        if hierarchy.is_ruby():
            self.pc.attachIO(self.iobus, [self.pc.south_bridge.ide.dma])
            return
        self.bridge = Bridge(delay="50ns")
        self.bridge.mem_side_port = self.iobus.cpu_side_ports
        self.bridge.cpu_side_port = hierarchy.get_mem_side_port()
        self.bridge.ranges = [
            AddrRange(DEVICES, M5OPS),
            AddrRange(IO_PORTS, INTERRUPTS - 1),
            AddrRange(PCI_CONFIG, Addr.max),
        ]
        self.apicbridge = Bridge(delay="50ns")
        self.apicbridge.cpu_side_port = self.iobus.mem_side_ports
        self.apicbridge.mem_side_port = hierarchy.get_cpu_side_port()
        local_apics = self.get_processor().get_num_cores() * PAGE
        self.apicbridge.ranges = [AddrRange(INTERRUPTS, INTERRUPTS + local_apics - 1)]
        self.pc.attachIO(self.iobus)

    def _describe(self) -> None:
        """Describe processors, interrupts and memory to the kernel, as firmware would."""
        cores = self.get_processor().get_num_cores()
        io_apic = X86IntelMPIOAPIC(id=cores, version=0x11, enable=True, address=0xFEC0_0000)
        self.pc.south_bridge.io_apic.apic_id = io_apic.id
        mp = [
            X86IntelMPProcessor(local_apic_id=i, local_apic_version=0x14, enable=True, bootstrap=i == 0)
            for i in range(cores)
        ]
        # Linux configures PCI on bus 0 alone, as gem5's host bridge does.
        mp += [io_apic, X86IntelMPBus(bus_id=0, bus_type="PCI   "), X86IntelMPBus(bus_id=1, bus_type="ISA   ")]
        madt = [X86ACPIMadtLAPIC(acpi_processor_id=i, apic_id=i, flags=1) for i in range(cores)]
        madt.append(X86ACPIMadtIOAPIC(id=io_apic.id, address=io_apic.address, int_base=0))

        def route(kind: str, bus: int, irq: int, pin: int) -> X86IntelMPIOIntAssignment:
            return X86IntelMPIOIntAssignment(
                interrupt_type=kind,
                polarity="ConformPolarity",
                trigger="ConformTrigger",
                source_bus_id=bus,
                source_bus_irq=irq,
                dest_io_apic_id=io_apic.id,
                dest_io_apic_intin=pin,
            )

        mp.append(route("INT", 0, 4 << 2, 16))  # the IDE controller, PCI device 4
        madt.append(X86ACPIMadtIntSourceOverride(bus_source=0, irq_source=4 << 2, sys_int=16, flags=0))
        # The timer (0) comes in at pin 2; 2 is the cascade of the old interrupt controllers.
        for irq, pin in [(0, 2), (1, 1), *((n, n) for n in range(3, 15))]:
            mp += [route("ExtInt", 1, irq, 0), route("INT", 1, irq, pin)]
            madt.append(X86ACPIMadtIntSourceOverride(bus_source=1, irq_source=irq, sys_int=pin, flags=0))

        workload = self.workload
        workload.smbios_table.structures = [X86SMBiosBiosInformation()]
        workload.intel_mp_table.base_entries = mp
        workload.intel_mp_table.ext_entries = [X86IntelMPBusHierarchy(bus_id=1, subtractive_decode=True, parent_bus=0)]
        pointer = workload.acpi_description_table_pointer
        table = X86ACPIMadt(local_apic_address=0, records=madt, oem_id="s80lab")
        for root in (pointer.rsdt, pointer.xsdt):
            root.entries.append(table)
            root.oem_id = "s80lab"
        pointer.oem_id = "s80lab"
        usable, reserved = 1, 2
        ram = self.get_memory().get_size()
        # Memory up to the devices that is not there is reserved, so that no device is placed in it.
        workload.e820_table.entries = [
            X86E820Entry(addr=0, size="639KiB", range_type=usable),
            X86E820Entry(addr=0x9FC00, size="385KiB", range_type=reserved),
            X86E820Entry(addr=0x10_0000, size=f"{ram - 0x10_0000}B", range_type=usable),
            *([X86E820Entry(addr=ram, size=f"{DEVICES - ram}B", range_type=reserved)] if ram < DEVICES else []),
            X86E820Entry(addr=M5OPS, size="64KiB", range_type=reserved),
        ]

    @overrides(AbstractBoard)
    def _setup_memory_ranges(self) -> None:
        memory = self.get_memory()
        if memory.get_size() > DEVICES:
            raise ValueError(f"the board supports 3 GiB of memory at most, not {memory.get_size() / 2**30:.1f} GiB")
        whole = AddrRange(memory.get_size())
        memory.set_memory_range([whole])
        self.mem_ranges = [whole, AddrRange(DEVICES, size=0x10_0000)]

    @overrides(AbstractBoard)
    def has_io_bus(self) -> bool:
        return True

    @overrides(AbstractBoard)
    def get_io_bus(self) -> IOXBar:
        return self.iobus

    @overrides(AbstractBoard)
    def has_dma_ports(self) -> bool:
        return True

    @overrides(AbstractBoard)
    def get_dma_ports(self) -> Sequence[Any]:
        return [self.pc.south_bridge.ide.dma, self.iobus.mem_side_ports]

    @overrides(AbstractBoard)
    def has_coherent_io(self) -> bool:
        return True

    @overrides(AbstractBoard)
    def get_mem_side_coherent_io_port(self) -> Any:
        return self.iobus.mem_side_ports


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
