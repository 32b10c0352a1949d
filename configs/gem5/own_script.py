# SPDX-License-Identifier: GPL-2.0-or-later
"""A script of your own with the caches of s80lab in gem5's standard library: gem5.fast -d OUT own_script.py

Four processors read and write the same 64 KiB at random, for 100 microseconds. gem5 writes OUT/stats.txt.
"""

import sys
from pathlib import Path

import m5

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the folder configs/gem5 of s80lab

import library  # noqa: F401  (before gem5's standard library)
from gem5.components.boards.test_board import TestBoard
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.random_generator import RandomGenerator
from hammer import HammerHierarchy
from machine_file import Geometry, Latency, MachineFile
from release import instantiate

# MachineFile.load("machine.toml") reads the machine of a run: each run folder of gem5 has this file.
l1, l2 = Geometry(size=8 << 10, ways=2), Geometry(size=32 << 10, ways=4)
latency = Latency(l2_hit=8, memory=110, cache=120, upgrade=60)
machine = MachineFile("mine", 4, 1, 450_000_000, 64, l1, l1, l2, "lru", latency, probe_filter=0, bandwidth=False)

board = TestBoard(
    clk_freq=f"{machine.clock_hz}Hz",
    generator=RandomGenerator(
        machine.processors, "100us", "100MB/s", machine.line_bytes, max_addr=64 << 10, rd_perc=75
    ),
    memory=SingleChannelSimpleMemory("1ns", "0ns", "1000GiB/s", "64MiB"),
    cache_hierarchy=HammerHierarchy(machine),
)
board.cache_line_size = machine.line_bytes
instantiate(board, full_system=False)
m5.simulate()
m5.stats.dump()
