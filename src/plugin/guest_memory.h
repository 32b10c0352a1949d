// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's memory as its processors access it: translation of addresses, with the modelled data TLB.
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

/// Owns the translations of the vCPU contexts, which are those of the modelled TLB. A miss of the TLB is a
/// page walk, whose accesses this class records. Accesses calls it inside a callback of QEMU: `info` is
/// QEMU's description of the access.
class GuestMemory {
public:
    /// Not an address.
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    /// `notes`: null if no notes are taken. The references must outlive this object.
    GuestMemory(const model::Machine& machine, GuestRam& ram, const VcpuList& vcpus, Epochs& epochs,
                MissNotes* notes);

    /// The guest-physical address of an access, or kNowhere outside of the guest's memory. A store to the
    /// local APIC is recorded as the interrupt that it sends. The result is not an optional: the host would
    /// write the optional in parts and read it as a whole, which stalls for longer than the rest of the
    /// function takes.
    std::uint64_t translate(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind) {
        const std::uint64_t page = address >> kPageShift;
        const Translation& t = vcpu.translations.tlb[page & tlb_mask_];
        if (t.tag == ((page & kPageNumberMask) | vcpu.translations.generation)) [[likely]] {
            return t.physical | (address & kPageMask);
        }
        return translate_anew(vcpu, info, address, kind);
    }
    /// Drops the translations of `vcpu`: its address space or page tables may have changed.
    static void forget(Vcpu& vcpu);

    /// Number of lines of the guest's memory. Lines above are firmware or nowhere.
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
    const HashedTable hashed_table_;  ///< located after the guest's memory, if the machine has one
    GuestRam& ram_;
    const model::Line lines_;
    const VcpuList& vcpus_;
    Epochs& epochs_;
    MissNotes* const notes_;
    /// By processor: destination half of the local APIC's command register.
    std::vector<std::uint32_t> icr_high_;
};

}  // namespace s80::plugin
