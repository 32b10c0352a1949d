// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/accesses.h"

#include <algorithm>

#include "plugin/qemu_api.h"
#include "plugin/vcpus.h"

namespace s80::plugin {

using model::Kind;

namespace {

/// The search for the end of a polling loop gives up after this number of blocks.
constexpr unsigned kSearchedBlocks = 64;

std::uint64_t next_check(const Vcpu& vcpu) {
    return std::min({vcpu.filter.interval_end, vcpu.share.end(), vcpu.slice.end, vcpu.slice.contention_end});
}

}  // namespace

Accesses::Accesses(const model::Machine& machine, GuestRam& ram, PhasePage& page, Epochs& epochs,
                   GuestMemory& memory, MissNotes* notes, bool skips_polls)
    : line_shift_(machine.line_shift()),
      filter_instructions_(machine.filter_instructions),
      skips_polls_(skips_polls),
      ram_(ram),
      page_(page),
      epochs_(epochs),
      memory_(memory),
      notes_(notes) {}

// --- at the beginning of a block of instructions ---

void Accesses::begin_slice(Vcpu& vcpu, const void* registers) const {
    begin_interval(vcpu);
    if (vcpu.polls.search != 0 && vcpu.polls.loop.open() && !vcpu.slice.paused) {
        vcpu.check_at = 0;  // the search that began in the last time slice continues
    } else if (vcpu.slice.paused || vcpu.slice.may_poll || vcpu.polls.recent.may_poll()) {
        search_loop(vcpu, registers);
    } else {
        vcpu.polls.search = 0;
    }
}

bool Accesses::check(Vcpu& vcpu) const {
    if (vcpu.polls.search != 0) {
        if (vcpu.loop_returned(running_state)) {
            vcpu.polls.search = 0;
            epochs_.park(vcpu);
            Vcpus::leave();
            return false;
        }
        if (search_goes_on(vcpu)) {
            return true;
        }
    }
    if (epochs_.slice_over(vcpu)) {
        epochs_.end_slice();
        Vcpus::leave();
        return false;
    }
    // A contender that is ahead of the others calls this function before each block, mostly in the middle of
    // a filter interval. The interval must then not end.
    if (vcpu.instructions >= vcpu.filter.interval_end || vcpu.instructions < vcpu.slice.contention_end) {
        vcpu.slice.reads_again = true;
        begin_interval(vcpu);
        if (vcpu.polls.recent.may_poll()) {
            search_loop(vcpu, running_state);
        } else {
            vcpu.polls.search = 0;
        }
    }
    return true;
}

/// Counts one block of the search for a polling loop. Returns false if the time slice or the filter interval
/// is over, so that the caller must check for their ends.
bool Accesses::search_goes_on(Vcpu& vcpu) const {
    // QEMU stores the flags in another form at the first block of a time slice than at later blocks. So
    // registers of a first block cannot be compared with those of a later block, and the search starts again
    // at the second block. An exception is a loop with PAUSE: it returns only to first blocks of time slices.
    if (vcpu.polls.search == kSearchedBlocks - 1 && !vcpu.slice.after_pause) {
        vcpu.move_loop(running_state);
    }
    --vcpu.polls.search;
    if (epochs_.slice_over(vcpu) || vcpu.instructions >= vcpu.filter.interval_end) {
        return false;
    }
    if (vcpu.polls.search == 0) {
        vcpu.slice.over = vcpu.polls.ends_after_search;
        vcpu.check_at = vcpu.slice.over ? 0 : next_check(vcpu);
    }
    return true;
}

/// Starts the search for a polling loop. This block may be the first block of the loop.
void Accesses::search_loop(Vcpu& vcpu, const void* registers) const {
    if (!skips_polls_) {
        return;
    }
    vcpu.begin_loop(registers);
    vcpu.polls.search = kSearchedBlocks;
    vcpu.polls.ends_after_search = false;
    vcpu.check_at = 0;
}

void Accesses::begin_interval(Vcpu& vcpu) const {
    vcpu.polls.recent.begin_interval(vcpu.instructions);
    vcpu.filter.begin_interval(vcpu.instructions + filter_instructions_);
    vcpu.check_at = next_check(vcpu);
}

void Accesses::translation_changed(Vcpu& vcpu) const {
    GuestMemory::forget(vcpu);
    if (vcpu.bound()) {
        vcpu.attention |= kAddressSpace;
        begin_interval(vcpu);
    }
}

// --- at an access of the running processor ---

void Accesses::fetch(Vcpu& vcpu, model::Line line) const {
    epochs_.add(vcpu, model::Event::access(Kind::ifetch, line));
    if (notes_ != nullptr) [[unlikely]] {
        notes_->fetch(vcpu, line);
    }
    vcpu.filter.fetches[line % kFilterEntries] = vcpu.filter.key(line);
}

void Accesses::access_line(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, Kind kind) const {
    const std::uint64_t virtual_line = address >> line_shift_;
    if (vcpu.filter.holds(virtual_line, kind)) {
        return;
    }
    const std::uint64_t key = vcpu.filter.key(virtual_line);
    const auto entry = virtual_line % kFilterEntries;
    const std::uint64_t line = memory_.translate(vcpu, info, address, kind) >> line_shift_;
    if (line >= memory_.lines()) {
        return;  // the address is not RAM: it is unmapped, or firmware
    }
    epochs_.access(vcpu, static_cast<model::Line>(line), kind);
    if (notes_ != nullptr) [[unlikely]] {
        notes_->put(vcpu, entry, epochs_.number());
    }
    vcpu.filter.loads[entry] = key;
    if (kind == Kind::store) {
        vcpu.filter.stores[entry] = key;
    }
}

void Accesses::load_or_store(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, Kind kind,
                             bool may_cross) const {
    if (!vcpu.bound()) {
        return;
    }
    if (kind == Kind::store && vcpu.page_store != 0 && address == vcpu.page_store) {
        vcpu.page_store = 0;
        const std::uint64_t physical = memory_.translate(vcpu, info, address, kind);
        if (physical != GuestMemory::kNowhere) {
            page_.accept(ram_, physical & ~kPageMask);
            epochs_.publish();
        }
    }
    access_line(vcpu, info, address, kind);
    if (may_cross) {
        const std::uint64_t last = address + (std::uint64_t{1} << qemu_plugin_mem_size_shift(info)) - 1;
        if (address >> line_shift_ != last >> line_shift_) {
            ++vcpu.counts.accesses[static_cast<unsigned>(kind)];
            access_line(vcpu, info, last, kind);
        }
    }
}

void Accesses::noted_access(Vcpu& vcpu, const Site& site, std::uint32_t info, std::uint64_t address,
                            Kind kind) const {
    if (!vcpu.bound()) {
        return;
    }
    const std::uint64_t bytes = std::uint64_t{1} << qemu_plugin_mem_size_shift(info);
    const std::uint64_t next_line = ((address >> line_shift_) + 1) << line_shift_;
    const std::uint64_t here = std::min(bytes, next_line - address);
    notes_->access(vcpu, site, address, here, kind, epochs_.number());
    load_or_store(vcpu, info, address, kind, false);
    if (here < bytes) {
        ++vcpu.counts.accesses[static_cast<unsigned>(kind)];
        notes_->access(vcpu, site, next_line, bytes - here, kind, epochs_.number());
        access_line(vcpu, info, next_line, kind);
    }
}

void Accesses::copy_begins(Vcpu& vcpu) {
    // At most this number of instructions lies between the call in the module and the first one of memcpy.
    constexpr std::uint64_t kCall = 16;
    vcpu.device.copies = vcpu.instructions - vcpu.device.module_at <= kCall;
    vcpu.device.lines = {};
}

void Accesses::device_access(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, Kind kind) const {
    std::uint64_t& last = vcpu.device.lines[kind == Kind::store ? 1 : 0];
    const std::uint64_t virtual_line = address >> line_shift_;
    if (!vcpu.bound() || last == virtual_line + 1) {
        return;
    }
    last = virtual_line + 1;
    const qemu_plugin_hwaddr* hwaddr = qemu_plugin_get_hwaddr(info, address);
    if (hwaddr == nullptr || qemu_plugin_hwaddr_is_io(hwaddr)) {
        return;
    }
    const std::uint64_t line = qemu_plugin_hwaddr_phys_addr(hwaddr) >> line_shift_;
    if (line < memory_.lines()) {
        epochs_.add(vcpu, model::Event::device(kind == Kind::store, static_cast<model::Line>(line)));
    }
}

void Accesses::expect_page(Vcpu& vcpu, std::uint64_t address) const {
    constexpr std::uint64_t kSecondWord = 8;
    vcpu.page_store = address + kSecondWord;
    begin_interval(vcpu);  // otherwise the filter may drop the store to the second word
}

}  // namespace s80::plugin
