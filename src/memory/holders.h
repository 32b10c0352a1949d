// SPDX-License-Identifier: GPL-2.0-or-later
// Sharing vectors (`Holders`): the set of cores that hold a line, for each line of guest-physical memory. A
// look-up replaces the snoop of all caches' tags and costs one host access instead of one per core.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/core_set.h"
#include "base/host_memory.h"
#include "base/types.h"

namespace s80::model {

class Holders {
public:
    /// The number of memory itself, for protocols in which memory keeps assuming that sharers remain
    /// (leaves_shared).
    static constexpr unsigned kMemory = kMaxCores - 1;

    /// `lines`: lines of guest-physical address space.
    explicit Holders(std::size_t lines)
        : lines_(lines),
          memory_(lines * sizeof(CoreSet), "the sharing vectors"),
          sets_(reinterpret_cast<CoreSet*>(memory_.data())) {}

    std::size_t lines() const { return lines_; }
    CoreSet of(Line line) const { return sets_[line]; }
    void add(Line line, unsigned holder) { sets_[line].add(holder); }
    void remove(Line line, unsigned holder) { sets_[line].remove(holder); }
    void prefetch(Line line) const { model::prefetch(&sets_[line]); }

private:
    std::size_t lines_;
    HostMemory memory_;
    CoreSet* sets_;
};

}  // namespace s80::model
