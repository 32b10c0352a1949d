// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/guest_memory.h"

#include "plugin/page_walk.h"
#include "plugin/qemu_api.h"

namespace s80::plugin {

using model::Kind;

namespace {

constexpr std::uint64_t kGenerationStep = std::uint64_t{1} << 36;
constexpr std::uint64_t kApicPage = 0xfee00;

}  // namespace

GuestMemory::GuestMemory(const model::Machine& machine, GuestRam& ram, const Lanes& lanes, Windows& windows,
                         MissNotes* notes)
    : tlb_mask_(machine.translation.entries - 1),
      line_shift_(machine.line_shift()),
      hashed_(machine.translation.hashed),
      hashed_table_(machine.translation.page_table),
      ram_(ram),
      lines_(static_cast<model::Line>(ram.end() >> line_shift_)),
      lanes_(lanes),
      windows_(windows),
      notes_(notes),
      icr_high_(lanes.size(), 0) {}

void GuestMemory::forget(Lane& lane) {
    lane.translations.generation += kGenerationStep;
    if (lane.translations.generation == 0) {
        lane.translations.tlb.fill(Translation{});
    }
}

[[gnu::noinline]] std::uint64_t GuestMemory::translate_anew(Lane& lane, std::uint32_t info,
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

/// A miss of the modelled data TLB: loads the entries of the guest's own page tables, from the top, where the
/// machine has no table of its own. QEMU's walks are not shown to plugins.
void GuestMemory::walk(Lane& lane, std::uint64_t address) {
    if (hashed_) {
        walk_hashed(lane, address);
        return;
    }
    walk_page_tables(ram_, lane.translations.page_table, address,
                     [&](std::uint64_t entry_at) { walk_access(lane, entry_at); });
}

/// Our own cache of translations has not the page, but the modelled TLB may: it outlives a change of the
/// address space.
void GuestMemory::walk_hashed(Lane& lane, std::uint64_t address) {
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
void GuestMemory::walk_access(Lane& lane, std::uint64_t physical) {
    ++lane.counts.accesses[static_cast<unsigned>(Kind::walk)];
    windows_.access(lane, static_cast<model::Line>(physical >> line_shift_), Kind::walk);
    if (notes_ != nullptr) [[unlikely]] {
        notes_->put_walk(lane, physical);
    }
}

/// The command register of the local APIC: an interrupt to another processor wakes it.
void GuestMemory::apic_store(Lane& lane, std::uint32_t info, std::uint64_t offset) {
    constexpr std::uint64_t kCommandLow = 0x300;
    constexpr std::uint64_t kCommandHigh = 0x310;
    constexpr std::uint32_t kShorthand = 3U << 18;
    const std::uint32_t value = qemu_plugin_mem_get_value(info).data.u32;
    std::uint32_t& target = icr_high_[lane.processor];
    if (offset == kCommandHigh) {
        target = value >> 24;
    } else if (offset == kCommandLow && (value & kShorthand) == 0 && target < lanes_.size()) {
        windows_.interrupt(lane, *lanes_[target]);
    } else if (offset == kCommandLow) {
        windows_.interrupt_all(lane);
    }
}

}  // namespace s80::plugin
