// SPDX-License-Identifier: GPL-2.0-or-later
// Effects of device accesses to memory on the caches. A device is not a requester in the protocol's tables,
// because it keeps no copy. Its reads make memory current; its writes invalidate all copies.
#include "memory/hierarchy.h"

namespace s80::model {

void Hierarchy::device_read(Line line) {
    // As after a read of another core: the owner cannot know that the device keeps no copy.
    const State clean = protocol_.own(OwnEvent::load, protocol_.invalid()).next_shared;
    for (const unsigned core : cores_among(holders_.of(line))) {
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
    const CoreSet holders = holders_.of(line);
    for (const unsigned core : cores_among(holders)) {
        invalidate(core, line, held(core, line));
    }
    if (memory_among(holders)) {
        holders_.remove(line, Holders::kMemory);
    }
    interconnect_.evicted(line);
}

}  // namespace s80::model
