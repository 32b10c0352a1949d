// SPDX-License-Identifier: GPL-2.0-or-later
// Protocols with a [home] for tests: MESI with a last-level cache (LLC).
#pragma once
#include <string>

namespace s80::test {

/// MESI's private caches, without the row of evictions.
inline constexpr const char* kPrivateMesi = R"(
[states]
M = { description = "Modified: the only copy; memory is stale", counts_as = "M", readable = true, writable = true }
E = { description = "Exclusive: the only copy; memory is current", counts_as = "E", readable = true }
S = { description = "Shared: other copies may exist; memory is current", counts_as = "S", readable = true }
I = { description = "Invalid: not in the cache" }
[own.load]
M = { next = "M" }
E = { next = "E" }
S = { next = "S" }
I = { bus = "read", alone = "E", shared = "S" }
[own.fetch]
M = { next = "M" }
E = { next = "E" }
S = { next = "S" }
I = { bus = "read", alone = "E", shared = "S" }
[own.store]
M = { next = "M" }
E = { next = "M" }
S = { bus = "upgrade", next = "M" }
I = { bus = "rfo", next = "M" }
[remote.read]
M = { next = "S", supply = true, writeback = true }
E = { next = "S", supply = true }
S = { next = "S" }
I = { next = "I" }
[remote.rfo]
M = { next = "I", supply = true }
E = { next = "I", supply = true }
S = { next = "I" }
I = { next = "I" }
[remote.upgrade]
M = { impossible = "the requester holds a copy, so no other cache holds the only copy" }
E = { impossible = "the requester holds a copy, so no other cache holds the only copy" }
S = { next = "I" }
I = { next = "I" }
[remote.recall]
M = { next = "I", writeback = true }
E = { next = "I" }
S = { next = "I" }
I = { next = "I" }
)";

/// The LLC takes what the L2s evict. A directory may be too small. Blocks enter the LLC at puts and at
/// recalls.
inline std::string victim_table() {
    return std::string(R"(
name = "victim"
description = "MESI, a victim last-level cache, and a directory"
)") + kPrivateMesi +
           R"(
[own.evict]
M = { next = "I", writeback = true }
E = { next = "I", put = true }
S = { next = "I", put = true }
I = { impossible = "an absent block cannot be evicted" }
[home.states]
N = { description = "nowhere", copies = "none" }
P = { description = "in the LLC", data = true, copies = "none" }
D = { description = "in the LLC, dirty", data = true, dirty = true, copies = "none" }
X = { description = "one core has it", copies = "one" }
A = { description = "cores share it", copies = "any" }
[home.read]
N = { next = "X" }
P = { supply = true, next = "X" }
D = { supply = true, writeback = true, next = "X" }
X = { next = "A" }
A = { grants = "shared", next = "A" }
[home.rfo]
N = { next = "X" }
P = { supply = true, next = "X" }
D = { supply = true, writeback = true, next = "X" }
X = { next = "X" }
A = { next = "X" }
[home.upgrade]
N = { impossible = "no copy" }
P = { impossible = "no copy" }
D = { impossible = "no copy" }
X = { impossible = "only copy" }
A = { next = "X" }
[home.put.exclusive]
X = { clean = "P", dirty = "D" }
A = { impossible = "shared" }
[home.put.sharer]
X = { impossible = "exclusive" }
A = { alone = "P", shared = "A" }
[home.displace]
P = { next = "N" }
D = { next = "N", writeback = true }
[home.recall]
X = { clean = "N", dirty = "D" }
A = { next = "N" }
)";
}

/// The LLC has all lines of the L2s and knows the sharers.
inline std::string inclusive_table() {
    return std::string(R"(
name = "inclusive"
description = "MESI with an inclusive last-level cache that knows the sharers"
)") + kPrivateMesi +
           R"(
[own.evict]
M = { next = "I", writeback = true }
E = { next = "I", put = true }
S = { next = "I" }
I = { impossible = "an absent block cannot be evicted" }
[home.states]
N = { description = "not here", copies = "none" }
P = { description = "here alone", data = true, copies = "none" }
PD = { description = "here alone, dirty", data = true, dirty = true, copies = "none" }
SS = { description = "here, sharers", data = true, copies = "any" }
SD = { description = "here, dirty, sharers", data = true, dirty = true, copies = "any" }
X = { description = "here, one core may have newer data", data = true, copies = "one" }
XD = { description = "here dirty, one core may have newer data", data = true, dirty = true, copies = "one" }
[home.read]
N = { next = "X" }
P = { supply = true, next = "X" }
PD = { supply = true, next = "XD" }
SS = { supply = true, grants = "shared", next = "SS" }
SD = { supply = true, grants = "shared", next = "SD" }
X = { clean = "SS", dirty = "SD" }
XD = { next = "SD" }
[home.fetch]
N = { grants = "shared", next = "SS" }
P = { supply = true, grants = "shared", next = "SS" }
PD = { supply = true, grants = "shared", next = "SD" }
SS = { supply = true, grants = "shared", next = "SS" }
SD = { supply = true, grants = "shared", next = "SD" }
X = { clean = "SS", dirty = "SD" }
XD = { next = "SD" }
[home.rfo]
N = { next = "X" }
P = { supply = true, next = "X" }
PD = { supply = true, next = "XD" }
SS = { supply = true, next = "X" }
SD = { supply = true, next = "XD" }
X = { next = "X" }
XD = { next = "XD" }
[home.upgrade]
N = { impossible = "the requester has a copy" }
P = { impossible = "the requester has a copy" }
PD = { impossible = "the requester has a copy" }
SS = { next = "X" }
SD = { next = "XD" }
X = { impossible = "an only copy asks for nothing" }
XD = { impossible = "an only copy asks for nothing" }
[home.put.exclusive]
SS = { impossible = "no" }
SD = { impossible = "no" }
X = { clean = "P", dirty = "PD" }
XD = { next = "PD" }
[home.displace]
P = { next = "N" }
PD = { next = "N", writeback = true }
SS = { next = "N", recall = true }
SD = { next = "N", recall = true, writeback = true }
X = { next = "N", recall = true }
XD = { next = "N", recall = true, writeback = true }
)";
}

}  // namespace s80::test
