// SPDX-License-Identifier: GPL-2.0-or-later
// Sharing vectors (`Holders`): the cores that hold a line, with one bit per core and one word per line of
// guest-physical memory. A look-up replaces the snoop of all caches' tags and costs one host access instead
// of one per core.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/host_memory.h"
#include "base/types.h"

namespace s80::model {

class Holders {
public:
    /// The bit of memory itself, for protocols in which memory keeps assuming that sharers remain
    /// (leaves_shared).
    static constexpr unsigned kMemory = kMaxCores - 1;

    /// `lines`: lines of guest-physical address space.
    explicit Holders(std::size_t lines)
        : lines_(lines),
          memory_(lines * sizeof(std::uint32_t), "the sharing vectors"),
          mask_(reinterpret_cast<std::uint32_t*>(memory_.data())) {}

    std::size_t lines() const { return lines_; }
    std::uint32_t of(Line line) const { return mask_[line]; }
    void add(Line line, unsigned holder) { mask_[line] |= 1U << holder; }
    void remove(Line line, unsigned holder) { mask_[line] &= ~(1U << holder); }
    void prefetch(Line line) const { model::prefetch(&mask_[line]); }

private:
    std::size_t lines_;
    HostMemory memory_;
    std::uint32_t* mask_;
};

}  // namespace s80::model
