// SPDX-License-Identifier: GPL-2.0-or-later
// Accesses: filters them, translates their addresses, and writes them into the streams.
#include <algorithm>

#include "plugin/page_walk.h"
#include "plugin/qemu_api.h"
#include "plugin/recorder.h"

namespace s80::plugin {

using model::Kind;

namespace {

constexpr std::uint64_t kPageNumberMask = (std::uint64_t{1} << 36) - 1;
constexpr std::uint64_t kGenerationStep = std::uint64_t{1} << 36;
constexpr std::uint64_t kApicPage = 0xfee00;
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
/// A loop that polls has fewer blocks.
constexpr unsigned kSearchedBlocks = 64;

std::uint64_t next_check(const Lane& lane) {
    return std::min({lane.filter.interval_end, lane.share.end(), lane.slice.end, lane.slice.turn_end});
}

}  // namespace

void Recorder::translation_changed(Lane& lane) {
    lane.translations.generation += kGenerationStep;
    if (lane.translations.generation == 0) {
        lane.translations.tlb.fill(Translation{});
    }
    if (lane.bound()) {
        lane.attention |= kAddressSpace;
        new_interval(lane);
    }
}

void Recorder::search_loop(Lane& lane, const void* registers) const {
    if (!skips_polls()) {
        return;
    }
    lane.begin_loop(registers);
    lane.polls.search = kSearchedBlocks;
    lane.polls.ends_after_search = false;
    lane.check_at = 0;
}

bool Recorder::check(Lane& lane) {
    if (lane.polls.search != 0) {
        if (lane.loop_returned(current_vcpu)) {
            lane.polls.search = 0;
            windows_->park(lane);
            current_vcpu = nullptr;
            return false;
        }
        // At the first block of a time slice, QEMU has the flags in another form. A loop with PAUSE returns
        // only there.
        if (lane.polls.search == kSearchedBlocks - 1 && !lane.slice.after_pause) {
            lane.move_loop(current_vcpu);
        }
        --lane.polls.search;
        if (!windows_->slice_over(lane) && lane.instructions < lane.filter.interval_end) {
            if (lane.polls.search == 0) {
                lane.slice.over = lane.polls.ends_after_search;
                lane.check_at = lane.slice.over ? 0 : next_check(lane);
            }
            return true;
        }
    }
    if (windows_->slice_over(lane)) {
        windows_->end_slice();
        current_vcpu = nullptr;  // the next block begins a time slice
        return false;
    }
    // A contender that is ahead asks before each block, and mostly within a filter interval.
    if (lane.instructions >= lane.filter.interval_end || lane.instructions < lane.slice.turn_end) {
        lane.slice.reads_again = true;
        new_interval(lane);
        if (lane.polls.recent.may_poll()) {
            search_loop(lane, current_vcpu);
        } else {
            lane.polls.search = 0;
        }
    }
    return true;
}

/// Within a filter interval a processor's accesses to a line that it has recorded with enough permission are
/// taken for hits of its L1 and are not recorded again. An interval begins with each time slice, so that a
/// processor sees what others stored meanwhile.
void Recorder::new_interval(Lane& lane) {
    lane.polls.recent.begin_interval(lane.instructions);
    lane.filter.begin_interval(lane.instructions + machine_.filter_instructions);
    lane.check_at = next_check(lane);
}

void Recorder::fetch(Lane& lane, model::Line line) {
    windows_->add(lane, model::Event::access(Kind::ifetch, line));
    if (notes()) [[unlikely]] {
        notes_[lane.processor].fetch(lane.sampled.block, static_cast<std::uint64_t>(line) << line_shift_);
        notes_[lane.processor].put(lane);
    }
    lane.filter.fetches[line % kFilterEntries] = lane.filter.key(line);
}

inline std::uint64_t Recorder::translate(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) {
    const std::uint64_t page = address >> kPageShift;
    const Translation& t = lane.translations.tlb[page & tlb_mask_];
    if (t.tag == ((page & kPageNumberMask) | lane.translations.generation)) [[likely]] {
        return t.physical | (address & kPageMask);
    }
    return translate_anew(lane, info, address, kind);
}

[[gnu::noinline]] std::uint64_t Recorder::translate_anew(Lane& lane, std::uint32_t info,
                                                         std::uint64_t address, Kind kind) {
    const qemu_plugin_hwaddr* hwaddr = qemu_plugin_get_hwaddr(info, address);
    if (hwaddr == nullptr) {
        return kNowhere;
    }
    const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(hwaddr);
    if (qemu_plugin_hwaddr_is_io(hwaddr)) {
        lane.polls.loop.discard();  // a device may answer differently
        if (kind == Kind::store && physical >> kPageShift == kApicPage) {
            apic_store(lane, info, physical & kPageMask);
        }
        return kNowhere;
    }
    walk(lane, address);
    const std::uint64_t page = address >> kPageShift;
    lane.translations.tlb[page & tlb_mask_] = {(page & kPageNumberMask) | lane.translations.generation,
                                               physical & ~kPageMask};
    return physical;
}

/// A miss of the modelled data TLB (the translations of a lane): loads the entries of the guest's own page
/// tables, from the top, where the machine has no table of its own. QEMU's walks are not shown to plugins.
void Recorder::walk(Lane& lane, std::uint64_t address) {
    if (machine_.translation.hashed) {
        walk_hashed(lane, address);
        return;
    }
    walk_page_tables(ram_, lane.translations.page_table, address,
                     [&](std::uint64_t entry_at) { walk_access(lane, entry_at); });
}

/// Our own cache of translations has not the page, but the modelled TLB may: it outlives a change of the
/// address space.
void Recorder::walk_hashed(Lane& lane, std::uint64_t address) {
    const std::uint64_t space = HashedTable::space(lane.translations.page_table, address);
    const std::uint64_t page = address >> kPageShift;
    const std::uint64_t key = (page & kPageNumberMask) | space << 36;
    std::uint64_t& held = lane.translations.hashed[page & tlb_mask_];
    if (held != key) {
        held = key;
        walk_access(lane, ram_.end() + hashed_table_.group(space, address));
    }
}

/// An access of the page walker.
void Recorder::walk_access(Lane& lane, std::uint64_t physical) {
    ++lane.counts.accesses[static_cast<unsigned>(Kind::walk)];
    windows_->access(lane, static_cast<model::Line>(physical >> line_shift_), Kind::walk);
    if (notes()) [[unlikely]] {
        notes_[lane.processor].put_walk(lane, physical);
    }
}

/// The command register of the local APIC: an interrupt to another processor wakes it.
void Recorder::apic_store(Lane& lane, std::uint32_t info, std::uint64_t offset) {
    constexpr std::uint64_t kCommandLow = 0x300;
    constexpr std::uint64_t kCommandHigh = 0x310;
    constexpr std::uint32_t kShorthand = 3U << 18;
    const std::uint32_t value = qemu_plugin_mem_get_value(info).data.u32;
    if (offset == kCommandHigh) {
        icr_high_[lane.processor] = value >> 24;
    } else if (offset == kCommandLow && (value & kShorthand) == 0 &&
               icr_high_[lane.processor] < lanes_.size()) {
        windows_->interrupt(lane, *lanes_[icr_high_[lane.processor]]);
    } else if (offset == kCommandLow) {
        windows_->interrupt_all(lane);
    }
}

void Recorder::access_line(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) {
    const std::uint64_t virtual_line = address >> line_shift_;
    if (lane.filter.holds(virtual_line, kind)) {
        return;
    }
    const std::uint64_t key = lane.filter.key(virtual_line);
    const auto entry = virtual_line % kFilterEntries;
    const std::uint64_t line = translate(lane, info, address, kind) >> line_shift_;
    if (line >= lines_) {
        return;  // nowhere, or firmware
    }
    windows_->access(lane, static_cast<model::Line>(line), kind);
    if (notes()) [[unlikely]] {
        notes_[lane.processor].put(lane, entry, windows_->number());
    }
    lane.filter.loads[entry] = key;
    if (kind == Kind::store) {
        lane.filter.stores[entry] = key;
    }
}

void Recorder::load_or_store(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind,
                             bool may_cross) {
    if (!lane.bound()) {
        return;
    }
    if (kind == Kind::store && lane.page_store != 0 && address == lane.page_store) {
        lane.page_store = 0;
        if (const auto physical = translate(lane, info, address, kind); physical != kNowhere) {
            page_.accept(ram_, physical & ~kPageMask);
            windows_->publish();
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

void Recorder::copy_begins(Lane& lane) {
    constexpr std::uint64_t kCall = 16;  // instructions between the module's last block and here
    lane.device.copies = lane.instructions - lane.device.module_at <= kCall;
    lane.device.lines = {};
}

void Recorder::device_access(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) {
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
    if (const std::uint64_t line = qemu_plugin_hwaddr_phys_addr(hwaddr) >> line_shift_; line < lines_) {
        windows_->add(lane, model::Event::device(kind == Kind::store, static_cast<model::Line>(line)));
    }
}

void Recorder::expect_page(Lane& lane, std::uint64_t address) {
    constexpr std::uint64_t kSecondWord = 8;
    lane.page_store = address + kSecondWord;
    new_interval(lane);  // so that the store is not filtered
}

}  // namespace s80::plugin
