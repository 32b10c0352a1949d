// SPDX-License-Identifier: GPL-2.0-or-later
// Translates virtual addresses of the guest, with a model of the data TLB.
#pragma once
#include <cstdint>
#include <vector>

#include "machine/machine.h"
#include "plugin/epochs.h"
#include "plugin/guest_ram.h"
#include "plugin/hashed_table.h"
#include "plugin/miss_notes.h"
#include "plugin/vcpu.h"

namespace s80::plugin {

/// Owns the cached translations in the vCPU contexts, which are the entries of the modelled TLB. A miss of
/// the TLB is a page walk; this class records the walk's accesses. Accesses calls it inside a callback of
/// QEMU: `info` is QEMU's description of the access.
class GuestMemory {
public:
    /// Returned instead of an address that is not in the guest's RAM.
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    /// `notes`: receives data for the attribution of misses; null: misses are not attributed. The references
    /// must outlive this object.
    GuestMemory(const model::Machine& machine, GuestRam& ram, const VcpuList& vcpus, Epochs& epochs,
                MissNotes* notes);

    /// The guest-physical address of the access to `address`; kNowhere if it is not in the guest's RAM. A
    /// store to the local APIC is recorded as the interrupt that it sends. The result is not a std::optional,
    /// because the host would write the optional in parts and read it as a whole; that stall takes longer
    /// than the rest of the function.
    std::uint64_t translate(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind) {
        const std::uint64_t page = address >> kPageShift;
        const Translation& t = vcpu.translations.tlb[page & tlb_mask_];
        if (t.tag == ((page & kPageNumberMask) | vcpu.translations.generation)) [[likely]] {
            return t.physical | (address & kPageMask);
        }
        return translate_anew(vcpu, info, address, kind);
    }
    /// Makes the cached translations of `vcpu` invalid, because its address space or page tables may have
    /// changed.
    static void forget(Vcpu& vcpu);

    /// Number of lines of the guest's RAM. A line number from this on is firmware, or not memory.
    model::Line lines() const { return lines_; }

private:
    static constexpr std::uint64_t kPageNumberMask = (std::uint64_t{1} << 36) - 1;

    std::uint64_t translate_anew(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind);
    void walk(Vcpu& vcpu, std::uint64_t address);
    void walk_hashed(Vcpu& vcpu, std::uint64_t address);
    void walk_access(Vcpu& vcpu, std::uint64_t physical);
    void apic_store(Vcpu& vcpu, std::uint32_t info, std::uint64_t offset);

    const std::uint64_t tlb_mask_;
    const unsigned line_shift_;
    const bool hashed_;
    /// The modelled hashed page table, at the addresses after the guest's RAM; used if `hashed_`.
    const HashedTable hashed_table_;
    GuestRam& ram_;
    const model::Line lines_;
    const VcpuList& vcpus_;
    Epochs& epochs_;
    MissNotes* const notes_;
    /// By processor: the high half of the local APIC's interrupt command register, which names the
    /// destination of the next interrupt.
    std::vector<std::uint32_t> icr_high_;
};

}  // namespace s80::plugin
