// SPDX-License-Identifier: GPL-2.0-or-later
// Effects of device accesses to memory on the caches. A device is not a requester in the protocol's tables,
// because it keeps no copy. Its reads make memory current; its writes invalidate all copies.
#include <bit>

#include "memory/hierarchy.h"

namespace s80::model {

void Hierarchy::device_read(Line line) {
    // As after a read of another core: the owner cannot know that the device keeps no copy.
    const State clean = protocol_.own(OwnEvent::load, protocol_.invalid()).next_shared;
    for (std::uint32_t mask = holders_.of(line) & ~memory_bit_; mask != 0; mask &= mask - 1) {
        const auto core = static_cast<unsigned>(std::countr_zero(mask));
        const Held theirs = held(core, line);
        Block& block = theirs.cache->block(theirs.slot);
        if (!protocol_.own(OwnEvent::evict, block.state).writeback) {
            continue;
        }
        ++stats_.core(Stat::l2_writebacks, core);
        change(block, clean);
        protect_l1d(core, line, block);
    }
    interconnect_.evicted(line);
}

void Hierarchy::device_write(Line line) {
    const std::uint32_t word = holders_.of(line);
    for (std::uint32_t mask = word & ~memory_bit_; mask != 0; mask &= mask - 1) {
        const auto core = static_cast<unsigned>(std::countr_zero(mask));
        invalidate(core, line, held(core, line));
    }
    if ((word & memory_bit_) != 0) {
        holders_.remove(line, Holders::kMemory);
    }
    interconnect_.evicted(line);
}

}  // namespace s80::model
