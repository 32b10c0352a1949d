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

GuestMemory::GuestMemory(const model::Machine& machine, GuestRam& ram, const VcpuList& vcpus, Epochs& epochs,
                         MissNotes* notes)
    : tlb_mask_(machine.translation.entries - 1),
      line_shift_(machine.line_shift()),
      hashed_(machine.translation.hashed),
      hashed_table_(machine.translation.page_table),
      ram_(ram),
      lines_(static_cast<model::Line>(ram.end() >> line_shift_)),
      vcpus_(vcpus),
      epochs_(epochs),
      notes_(notes),
      icr_high_(vcpus.size(), 0) {}

void GuestMemory::forget(Vcpu& vcpu) {
    vcpu.translations.generation += kGenerationStep;
    if (vcpu.translations.generation == 0) {
        vcpu.translations.tlb.fill(Translation{});
    }
}

[[gnu::noinline]] std::uint64_t GuestMemory::translate_anew(Vcpu& vcpu, std::uint32_t info,
                                                            std::uint64_t address, Kind kind) {
    const qemu_plugin_hwaddr* hwaddr = qemu_plugin_get_hwaddr(info, address);
    if (hwaddr == nullptr) {
        return kNowhere;
    }
    const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(hwaddr);
    if (qemu_plugin_hwaddr_is_io(hwaddr)) {
        // A device may return another value each time, so a loop that reads it cannot be counted without
        // being executed.
        vcpu.polls.loop.discard();
        if (kind == Kind::store && physical >> kPageShift == kApicPage) {
            apic_store(vcpu, info, physical & kPageMask);
        }
        return kNowhere;
    }
    walk(vcpu, address);
    const std::uint64_t page = address >> kPageShift;
    vcpu.translations.tlb[page & tlb_mask_] = {(page & kPageNumberMask) | vcpu.translations.generation,
                                               physical & ~kPageMask};
    return physical;
}

/// Records the page walk of a miss in the modelled data TLB. Without a hashed page table, the walk loads one
/// entry from each level of the guest's own page tables. This class walks the tables itself, because QEMU
/// does not report its walks to plugins.
void GuestMemory::walk(Vcpu& vcpu, std::uint64_t address) {
    if (hashed_) {
        walk_hashed(vcpu, address);
        return;
    }
    walk_page_tables(ram_, vcpu.translations.page_table, address,
                     [&](std::uint64_t entry_at) { walk_access(vcpu, entry_at); });
}

/// The same with a hashed page table. The translations that the plugin caches become invalid when the address
/// space changes; entries of a TLB in front of a hashed page table do not. So the modelled TLB may have the
/// page although the plugin's cache lacks it.
void GuestMemory::walk_hashed(Vcpu& vcpu, std::uint64_t address) {
    const std::uint64_t space = HashedTable::space(vcpu.translations.page_table, address);
    const std::uint64_t page = address >> kPageShift;
    const std::uint64_t key = (page & kPageNumberMask) | space << 36;
    std::uint64_t& held = vcpu.translations.hashed[page & tlb_mask_];
    if (held != key) {
        held = key;
        walk_access(vcpu, ram_.end() + hashed_table_.group(space, address));
    }
}

/// Records one load of the page walk.
void GuestMemory::walk_access(Vcpu& vcpu, std::uint64_t physical) {
    ++vcpu.counts.accesses[static_cast<unsigned>(Kind::walk)];
    epochs_.access(vcpu, static_cast<model::Line>(physical >> line_shift_), Kind::walk);
    if (notes_ != nullptr) [[unlikely]] {
        notes_->put_walk(vcpu, physical);
    }
}

/// The processor stores to its local APIC. A store to the low half of the interrupt command register sends an
/// interrupt, which wakes the destination if it sleeps. `offset`: in the APIC's page.
void GuestMemory::apic_store(Vcpu& vcpu, std::uint32_t info, std::uint64_t offset) {
    constexpr std::uint64_t kCommandLow = 0x300;
    constexpr std::uint64_t kCommandHigh = 0x310;
    constexpr std::uint32_t kShorthand = 3U << 18;
    const std::uint32_t value = qemu_plugin_mem_get_value(info).data.u32;
    std::uint32_t& target = icr_high_[vcpu.processor];
    if (offset == kCommandHigh) {
        target = value >> 24;
    } else if (offset == kCommandLow && (value & kShorthand) == 0 && target < vcpus_.size()) {
        epochs_.interrupt(vcpu, *vcpus_[target]);
    } else if (offset == kCommandLow) {
        epochs_.interrupt_all(vcpu);
    }
}

}  // namespace s80::plugin
