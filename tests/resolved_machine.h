// SPDX-License-Identifier: GPL-2.0-or-later
// The S80 as the scripts resolve its machine file, for tests and benchmarks that need no other.
#pragma once

namespace s80::test {

inline constexpr const char* kResolvedS80 = R"(
name = "s80"
line_bytes = 128
[processors]
count = 18
threads_per_core = 1
clock_hz = 450000000
[l1i]
size = 131072
ways = 2
[l1d]
size = 131072
ways = 2
[l2]
size = 8388608
ways = 4
inclusion = "inclusive"
[replacement]
policy = "lru"
[latency]
l2_hit = 8
memory = 110
cache = 120
upgrade = 60
[clock]
base_cpi = 1.0
quantum_cycles = 200
filter_instructions = 200
epoch_cycles = 20000
)";

}  // namespace s80::test
