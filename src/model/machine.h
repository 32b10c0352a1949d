// SPDX-License-Identifier: GPL-2.0-or-later
// The machine that is modelled, as the resolved machine file describes it
// (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <cstdint>
#include <string>

#include "model/replacement.h"
#include "model/types.h"

namespace s80::model {

struct CacheGeometry {
    std::uint64_t bytes = 0;
    unsigned ways = 0;
    unsigned sets(unsigned line_bytes) const {
        return static_cast<unsigned>(bytes / (static_cast<std::uint64_t>(ways) * line_bytes));
    }
};

struct Latency {  ///< stall cycles beyond the base cycle
    unsigned l2_hit = 0;
    unsigned memory = 0;
    unsigned cache = 0;
    unsigned upgrade = 0;
};

/// Throws Error when the word is neither; `where` begins the sentence.
Inclusion parse_inclusion(const std::string& word, const std::string& where);

/// How a data access finds its page where the TLB does not hold it.
struct Translation {
    bool hashed = false;                                 ///< else by the guest's own page tables
    unsigned entries = 1024;                             ///< of the TLB
    std::uint64_t page_table = std::uint64_t{64} << 20;  ///< bytes of the hashed table
};

/// How many cycles a request keeps what it goes through; 0: as many at once as come.
struct Bandwidth {
    unsigned bus = 0;
    unsigned memory = 0;  ///< one bank of it
    unsigned banks = 1;
};

struct Machine {
    std::string name;
    unsigned processors = 0;  ///< hardware threads that the guest sees
    unsigned threads_per_core = 1;
    std::uint64_t clock_hz = 0;
    unsigned line_bytes = 0;
    CacheGeometry l1i, l1d, l2;
    Inclusion l2_inclusion = Inclusion::inclusive;
    Policy policy = Policy::lru;
    Latency latency;
    Translation translation;
    Bandwidth bandwidth;
    double issue_share = 1.0;  ///< how fast each of a core's two threads issues while both do
    double base_cpi = 1.0;
    unsigned quantum_cycles = 200;
    unsigned slice_instructions = 200;
    unsigned turn_instructions = 0;  ///< 0: as long as QEMU's turns come

    unsigned cores() const { return processors / threads_per_core; }
    unsigned line_shift() const;

    /// Reads the resolved file; throws Error naming file and key.
    static Machine load(const std::string& path);
    /// The same of a text that is in memory; `where` names it in errors.
    static Machine parse(const std::string& text, const std::string& where);
    /// Throws Error when a geometry cannot be built; `where` begins the sentence.
    void check(const std::string& where) const;
};

}  // namespace s80::model
