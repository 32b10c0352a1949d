// SPDX-License-Identifier: GPL-2.0-or-later
// Adds up the requests that Attribution finds, in bounded memory (docs/reference/interfaces/miss-sums.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/host_memory.h"
#include "observe/attribution.h"

namespace s80::model {

/// What the requests of one sum have in common.
struct MissKey {
    static constexpr std::uint64_t kNoPhysical = ~std::uint64_t{0};
    static constexpr std::uint32_t kNoWho = ~std::uint32_t{0};
    // Values of `range`, besides 0: a page of 4 KiB, a page of 2 MiB, any address.
    static constexpr unsigned kPage = 12;
    static constexpr unsigned kLargePage = 21;
    static constexpr unsigned kEverything = 64;

    /// Physical address of the line's first byte; kNoPhysical: the sum is of a range of addresses.
    std::uint64_t physical = 0;
    std::uint64_t address = 0;  ///< virtual address of the access; of a range: its first byte
    std::uint64_t pc = 0;
    std::uint32_t who = 0;
    RequestTraits traits;
    std::uint8_t range = 0;  ///< the sum stands for 2^range bytes of addresses; 0: for one address
    std::uint8_t zero = 0;
};

/// The sum of all requests with one key, as a record of the file.
struct MissSum {
    MissKey key;
    std::uint64_t count = 0;
    std::uint64_t stall = 0;  ///< stall cycles of all requests together
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    /// Number of these requests that are stores to a line for which the same core made the last request, too,
    /// by a read.
    std::uint64_t own_reads = 0;
    /// Granules that any of the requests reads (bit mask); 0 if the sum is of a range. The next two: as in
    /// Miss.
    std::uint16_t reads = 0;
    std::uint16_t writes = 0;
    std::uint16_t foreign = 0;
    std::uint16_t zero_too = 0;
};
static_assert(sizeof(MissSum) == 88);

class MissSums {
public:
    static constexpr std::uint64_t kDefaultLimit = 2'000'000;

    /// `lines`: size of physical memory in lines. `limit`: largest number of sums.
    MissSums(std::size_t lines, std::uint64_t line_bytes, std::size_t limit);

    /// Adds a request. If the number of sums reaches the limit, sums lose details, and those that become
    /// equal are merged. Throws Error if this is not enough even without addresses, code and tasks.
    void add(const Miss& miss);
    /// All sums, in the order of their first requests.
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
    std::uint32_t* slots_;  ///< hash table of keys: index into sums_ plus one; 0: empty
    /// By line: core that made the last request plus one, if the request was a read; otherwise 0.
    std::uint8_t* readers_;
    std::size_t used_ = 0;
};

}  // namespace s80::model
