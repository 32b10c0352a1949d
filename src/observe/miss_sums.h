// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up the requests that Attribution observes, in bounded memory (docs/reference/interfaces/miss-sums.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/host_memory.h"
#include "observe/attribution.h"

namespace s80::model {

/// What the requests of a sum have in common.
struct MissKey {
    static constexpr std::uint64_t kNoPhysical = ~std::uint64_t{0};
    static constexpr std::uint32_t kNoWho = ~std::uint32_t{0};
    // Values of `range` beside 0.
    static constexpr unsigned kPage = 12;
    static constexpr unsigned kLargePage = 21;
    static constexpr unsigned kEverything = 64;

    std::uint64_t physical = 0;  ///< of the line's first byte; kNoPhysical: of a range of addresses
    std::uint64_t address = 0;   ///< virtual; of a range: of its first byte
    std::uint64_t pc = 0;
    std::uint32_t who = 0;
    RequestTraits traits;
    std::uint8_t range = 0;  ///< the addresses are 2^range bytes; 0: one address
    std::uint8_t zero = 0;
};

/// All requests with one key, in the layout of the file.
struct MissSum {
    MissKey key;
    std::uint64_t count = 0;
    std::uint64_t stall = 0;  ///< cycles of all requests
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    /// Number of requests by stores whose line the same core requested last, with a read.
    std::uint64_t own_reads = 0;
    std::uint16_t reads = 0;  ///< granules of all requests; of a range: 0
    std::uint16_t writes = 0;
    std::uint16_t foreign = 0;
    std::uint16_t zero_too = 0;
};
static_assert(sizeof(MissSum) == 88);

class MissSums {
public:
    static constexpr std::uint64_t kDefaultLimit = 2'000'000;

    /// `lines`: of the memory. `limit`: the largest number of sums.
    MissSums(std::size_t lines, std::uint64_t line_bytes, std::size_t limit);

    /// Adds a request. If the limit is reached, sums lose details and are merged. Throws Error if they do not
    /// fit even without addresses, code and tasks.
    void add(const Miss& miss);
    /// All sums, in the order of first occurrence.
    std::span<const MissSum> sums() const { return {sums_, used_}; }
    std::size_t limit() const { return limit_; }

private:
    std::uint32_t& slot(const MissKey& key);
    void put(const MissSum& sum);
    bool after_own_read(const Miss& miss);
    void fold();
    template <class Change>
    std::size_t folded(Change&& change);

    const unsigned line_shift_;
    const std::size_t limit_;
    const std::size_t slots_mask_;
    HostMemory sum_memory_;
    HostMemory slot_memory_;
    HostMemory reader_memory_;
    MissSum* sums_;
    std::uint32_t* slots_;   ///< by hash of the key: index into sums_ plus one; 0: empty
    std::uint8_t* readers_;  ///< by line: the core of the last request plus one, if it was a read; else 0
    std::size_t used_ = 0;
};

}  // namespace s80::model
