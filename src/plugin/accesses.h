// SPDX-License-Identifier: GPL-2.0-or-later
// Loads, stores and fetches of the guest: drops those that need not be recorded, and records the others.
#pragma once
#include <cstdint>

#include "machine/machine.h"
#include "plugin/epochs.h"
#include "plugin/guest_memory.h"
#include "plugin/guest_ram.h"
#include "plugin/miss_notes.h"
#include "plugin/phase_page.h"
#include "plugin/vcpu.h"

namespace s80::plugin {

/// The callbacks of QEMU call this class for each block and access of the guest. It owns the filters of the
/// vCPU contexts, and the search for loops that poll. Parameters: `vcpu` is the context of the processor that
/// executes, `info` is QEMU's description of the access, `address` is virtual.
///
/// The filter works by intervals. After a processor has recorded a load or store of a line, its further
/// accesses to this line in the same filter interval count as L1 hits and are not recorded. (A store is
/// recorded although a load was.) Each time slice begins a new interval, so that a processor records its
/// first access after other processors may have stored to the line.
class Accesses {
public:
    /// `skips_polls`: iterations of polling loops may be counted without being executed. `notes`: receives
    /// data for the attribution of misses; null: misses are not attributed. The references must outlive this
    /// object.
    Accesses(const model::Machine& machine, GuestRam& ram, PhasePage& page, Epochs& epochs,
             GuestMemory& memory, MissNotes* notes, bool skips_polls);

    // --- called at the beginning of a block of instructions ---
    /// A time slice of `vcpu` begins with this block. `registers`: QEMU's state of the processor.
    void begin_slice(Vcpu& vcpu, const void* registers) const;
    /// Called before a block if Vcpu::instructions has reached Vcpu::check_at: the filter interval, the
    /// processor's share of the epoch or its time slice may be over. Begins a new filter interval if needed.
    /// Returns false if the time slice must end before this block.
    bool check(Vcpu& vcpu) const;
    /// Called after an instruction that may change the address space or the page tables, for example MOV to
    /// CR3. Cached translations become invalid.
    void translation_changed(Vcpu& vcpu) const;

    // --- called for an access ---
    /// Records the fetch of a line that has code of the block which begins. `line`: physical.
    void fetch(Vcpu& vcpu, model::Line line) const;
    void load_or_store(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind,
                       bool may_cross) const;
    /// Called if misses are attributed. Notes an access that is not recorded, because the filter holds its
    /// line. The access must not cross a line.
    void note_again(const Vcpu& vcpu, std::uint64_t address, std::uint64_t bytes, model::Kind kind) const {
        notes_->again(vcpu, address, bytes, kind, epochs_.number());
    }
    /// Like load_or_store, if misses are attributed: also notes the access. `site`: the instruction. If the
    /// access crosses a line, each of the two lines gets a note.
    void noted_access(Vcpu& vcpu, const Site& site, std::uint32_t info, std::uint64_t address,
                      model::Kind kind) const;
    /// A memcpy of the guest's kernel begins. If a kernel module called it, its accesses count as those of a
    /// device, because the disk's driver is a module that copies with memcpy.
    static void copy_begins(Vcpu& vcpu);
    /// Records an access of such a memcpy as a device's access. Consecutive accesses to one line are recorded
    /// once.
    void device_access(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind) const;

    /// The load generator offers its phase page (PhasePage) at this address. It does so by a store to the
    /// second word of the page: notices that store.
    void expect_page(Vcpu& vcpu, std::uint64_t address) const;

private:
    void begin_interval(Vcpu& vcpu) const;
    void search_loop(Vcpu& vcpu, const void* registers) const;
    bool search_goes_on(Vcpu& vcpu) const;
    void access_line(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind) const;

    const unsigned line_shift_;
    const unsigned filter_instructions_;
    const bool skips_polls_;
    GuestRam& ram_;
    PhasePage& page_;
    Epochs& epochs_;
    GuestMemory& memory_;
    MissNotes* const notes_;
};

}  // namespace s80::plugin
