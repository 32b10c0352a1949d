// SPDX-License-Identifier: GPL-2.0-or-later
// A hardware prefetcher of the modelled machine.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coherence/outcome.h"
#include "machine/machine.h"
#include "memory/access.h"

namespace s80::model {

class Prefetcher {
public:
    virtual ~Prefetcher() = default;
    /// Called after each access that went beyond its L1, of any core. Appends the lines that this core's L2
    /// should get now. Lines that the core holds, and lines outside of memory, are ignored. A prefetched line
    /// counts as a fill, but not as a miss, and no processor waits for it.
    virtual void observe(const Access& access, const Outcome& outcome, std::vector<Line>& lines) = 0;

    /// The prefetcher's state between two epochs, as words for a checkpoint.
    virtual std::vector<std::uint64_t> state() const { return {}; }
    /// Restores what state() returned. Returns false if the number of words is wrong.
    [[nodiscard]] virtual bool set_state(std::span<const std::uint64_t> words) { return words.empty(); }
};

/// The machine keys of the table [prefetcher].
std::span<const Key> prefetcher_keys();

/// Makes the prefetcher that the machine file names (`prefetcher.kind`). Returns null if it names none.
/// Throws Error if it names an unknown one.
std::unique_ptr<Prefetcher> make_prefetcher(const Machine& machine);

}  // namespace s80::model
