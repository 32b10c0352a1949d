// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/accesses.h"

#include <algorithm>

#include "plugin/qemu_api.h"
#include "plugin/vcpus.h"

namespace s80::plugin {

using model::Kind;

namespace {

/// A loop that polls has fewer blocks.
constexpr unsigned kSearchedBlocks = 64;

std::uint64_t next_check(const Lane& lane) {
    return std::min({lane.filter.interval_end, lane.share.end(), lane.slice.end, lane.slice.turn_end});
}

}  // namespace

Accesses::Accesses(const model::Machine& machine, GuestRam& ram, PhasePage& page, Windows& windows,
                   GuestMemory& memory, MissNotes* notes, bool skips_polls)
    : line_shift_(machine.line_shift()),
      filter_instructions_(machine.filter_instructions),
      skips_polls_(skips_polls),
      ram_(ram),
      page_(page),
      windows_(windows),
      memory_(memory),
      notes_(notes) {}

// --- blocks ---

void Accesses::begin_slice(Lane& lane, const void* registers) const {
    begin_interval(lane);
    if (lane.polls.search != 0 && lane.polls.loop.open() && !lane.slice.paused) {
        lane.check_at = 0;  // the search goes on
    } else if (lane.slice.paused || lane.slice.may_poll || lane.polls.recent.may_poll()) {
        search_loop(lane, registers);
    } else {
        lane.polls.search = 0;
    }
}

bool Accesses::check(Lane& lane) const {
    if (lane.polls.search != 0) {
        if (lane.loop_returned(current_vcpu)) {
            lane.polls.search = 0;
            windows_.park(lane);
            Vcpus::leave();
            return false;
        }
        if (search_goes_on(lane)) {
            return true;
        }
    }
    if (windows_.slice_over(lane)) {
        windows_.end_slice();
        Vcpus::leave();
        return false;
    }
    // A contender that is ahead asks before each block, and mostly within a filter interval.
    if (lane.instructions >= lane.filter.interval_end || lane.instructions < lane.slice.turn_end) {
        lane.slice.reads_again = true;
        begin_interval(lane);
        if (lane.polls.recent.may_poll()) {
            search_loop(lane, current_vcpu);
        } else {
            lane.polls.search = 0;
        }
    }
    return true;
}

/// Counts a block of the search. Returns false if the time slice or the filter interval may end here.
bool Accesses::search_goes_on(Lane& lane) const {
    // At the first block of a time slice, QEMU has the flags in another form. A loop with PAUSE returns only
    // there.
    if (lane.polls.search == kSearchedBlocks - 1 && !lane.slice.after_pause) {
        lane.move_loop(current_vcpu);
    }
    --lane.polls.search;
    if (windows_.slice_over(lane) || lane.instructions >= lane.filter.interval_end) {
        return false;
    }
    if (lane.polls.search == 0) {
        lane.slice.over = lane.polls.ends_after_search;
        lane.check_at = lane.slice.over ? 0 : next_check(lane);
    }
    return true;
}

/// A loop that polls may begin at this block.
void Accesses::search_loop(Lane& lane, const void* registers) const {
    if (!skips_polls_) {
        return;
    }
    lane.begin_loop(registers);
    lane.polls.search = kSearchedBlocks;
    lane.polls.ends_after_search = false;
    lane.check_at = 0;
}

void Accesses::begin_interval(Lane& lane) const {
    lane.polls.recent.begin_interval(lane.instructions);
    lane.filter.begin_interval(lane.instructions + filter_instructions_);
    lane.check_at = next_check(lane);
}

void Accesses::translation_changed(Lane& lane) const {
    GuestMemory::forget(lane);
    if (lane.bound()) {
        lane.attention |= kAddressSpace;
        begin_interval(lane);
    }
}

// --- accesses ---

void Accesses::fetch(Lane& lane, model::Line line) const {
    windows_.add(lane, model::Event::access(Kind::ifetch, line));
    if (notes_ != nullptr) [[unlikely]] {
        notes_->fetch(lane, line);
    }
    lane.filter.fetches[line % kFilterEntries] = lane.filter.key(line);
}

void Accesses::access_line(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) const {
    const std::uint64_t virtual_line = address >> line_shift_;
    if (lane.filter.holds(virtual_line, kind)) {
        return;
    }
    const std::uint64_t key = lane.filter.key(virtual_line);
    const auto entry = virtual_line % kFilterEntries;
    const std::uint64_t line = memory_.translate(lane, info, address, kind) >> line_shift_;
    if (line >= memory_.lines()) {
        return;  // nowhere, or firmware
    }
    windows_.access(lane, static_cast<model::Line>(line), kind);
    if (notes_ != nullptr) [[unlikely]] {
        notes_->put(lane, entry, windows_.number());
    }
    lane.filter.loads[entry] = key;
    if (kind == Kind::store) {
        lane.filter.stores[entry] = key;
    }
}

void Accesses::load_or_store(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind,
                             bool may_cross) const {
    if (!lane.bound()) {
        return;
    }
    if (kind == Kind::store && lane.page_store != 0 && address == lane.page_store) {
        lane.page_store = 0;
        const std::uint64_t physical = memory_.translate(lane, info, address, kind);
        if (physical != GuestMemory::kNowhere) {
            page_.accept(ram_, physical & ~kPageMask);
            windows_.publish();
        }
    }
    access_line(lane, info, address, kind);
    if (may_cross) {
        const std::uint64_t last = address + (std::uint64_t{1} << qemu_plugin_mem_size_shift(info)) - 1;
        if (address >> line_shift_ != last >> line_shift_) {
            ++lane.counts.accesses[static_cast<unsigned>(kind)];
            access_line(lane, info, last, kind);
        }
    }
}

void Accesses::noted_access(Lane& lane, const Site& site, std::uint32_t info, std::uint64_t address,
                            Kind kind) const {
    if (!lane.bound()) {
        return;
    }
    const std::uint64_t bytes = std::uint64_t{1} << qemu_plugin_mem_size_shift(info);
    const std::uint64_t next_line = ((address >> line_shift_) + 1) << line_shift_;
    const std::uint64_t here = std::min(bytes, next_line - address);
    notes_->access(lane, site, address, here, kind, windows_.number());
    load_or_store(lane, info, address, kind, false);
    if (here < bytes) {
        ++lane.counts.accesses[static_cast<unsigned>(kind)];
        notes_->access(lane, site, next_line, bytes - here, kind, windows_.number());
        access_line(lane, info, next_line, kind);
    }
}

void Accesses::copy_begins(Lane& lane) {
    constexpr std::uint64_t kCall = 16;  // instructions between the module's last block and here
    lane.device.copies = lane.instructions - lane.device.module_at <= kCall;
    lane.device.lines = {};
}

void Accesses::device_access(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) const {
    std::uint64_t& last = lane.device.lines[kind == Kind::store ? 1 : 0];
    const std::uint64_t virtual_line = address >> line_shift_;
    if (!lane.bound() || last == virtual_line + 1) {
        return;
    }
    last = virtual_line + 1;
    const qemu_plugin_hwaddr* hwaddr = qemu_plugin_get_hwaddr(info, address);
    if (hwaddr == nullptr || qemu_plugin_hwaddr_is_io(hwaddr)) {
        return;
    }
    const std::uint64_t line = qemu_plugin_hwaddr_phys_addr(hwaddr) >> line_shift_;
    if (line < memory_.lines()) {
        windows_.add(lane, model::Event::device(kind == Kind::store, static_cast<model::Line>(line)));
    }
}

void Accesses::expect_page(Lane& lane, std::uint64_t address) const {
    constexpr std::uint64_t kSecondWord = 8;
    lane.page_store = address + kSecondWord;
    begin_interval(lane);  // so that the store is not filtered
}

}  // namespace s80::plugin
