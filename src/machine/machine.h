// SPDX-License-Identifier: GPL-2.0-or-later
// The modelled machine, as the resolved machine file describes it
// (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/types.h"
#include "cache/geometry.h"
#include "cache/replacement.h"
#include "cache/sliced_geometry.h"
#include "machine/keys.h"
#include "stats/statistics.h"

namespace s80::model {

struct Latency {  ///< stall cycles beyond the base cycle
    unsigned l2_hit = 0;
    unsigned memory = 0;
    unsigned cache = 0;
    unsigned upgrade = 0;
    unsigned llc = 0;  ///< of machines with a last-level cache

    Latency& operator*=(unsigned factor) {
        for (unsigned* cycles : {&l2_hit, &memory, &cache, &upgrade, &llc}) {
            *cycles *= factor;
        }
        return *this;
    }
};

/// A policy of private caches. Throws Error if none has this name; `where` begins the message.
Policy parse_policy(const std::string& word, const std::string& where);

/// How a data access finds its page after a TLB miss.
struct Translation {
    bool hashed = false;                                 ///< false: the guest's own page tables are walked
    unsigned entries = 1024;                             ///< of the TLB
    std::uint64_t page_table = std::uint64_t{64} << 20;  ///< bytes of the hashed table
};

/// Service time of each resource in cycles. 0: unlimited bandwidth.
struct Bandwidth {
    unsigned bus = 0;
    unsigned memory = 0;  ///< service time of one bank
    unsigned banks = 1;
};

struct Machine {
    std::string name;
    unsigned processors = 0;  ///< hardware threads of the guest
    unsigned threads_per_core = 1;
    std::uint64_t clock_hz = 0;
    unsigned line_bytes = 0;
    CacheGeometry l1i, l1d, l2;
    std::string l2_inclusion = "inclusive";   ///< organisation of the private caches
    Policy policy = Policy::lru;              ///< of the private caches
    std::optional<SlicedGeometry> llc;        ///< the shared last-level cache
    std::optional<SlicedGeometry> directory;  ///< of bounded size; none: it knows every copy
    Latency latency;
    Translation translation;
    Bandwidth bandwidth;
    double issue_share = 1.0;  ///< issue rate of each of a core's two threads while both issue
    double base_cpi = 1.0;
    unsigned quantum_cycles = 200;
    unsigned filter_instructions = 1'000;  ///< a filter interval (plugin/vcpu.h)
    unsigned epoch_cycles = 20'000;        ///< simulated cycles of a running processor in an epoch

    Keys keys;  ///< the file, for parts that read keys of their own

    unsigned cores() const { return processors / threads_per_core; }
    Dimensions dimensions() const { return {cores(), llc.has_value() || directory.has_value()}; }
    unsigned line_shift() const;
    /// Lines that the private caches of all cores have room for.
    std::uint64_t private_lines() const;

    /// Reads the resolved file. Throws Error that names file and key.
    static Machine load(const std::string& path);
    /// Reads a machine file from text in memory; `where` names the text in messages.
    static Machine parse(const std::string& text, const std::string& where);
    /// Throws Error if a geometry cannot be built; `where` begins the message.
    void check(const std::string& where) const;
};

}  // namespace s80::model
