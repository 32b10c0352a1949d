// SPDX-License-Identifier: GPL-2.0-or-later
// Accesses: filters them, and writes them into the streams.
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

/// Owns the filters of the vCPU contexts, and the search for loops that poll. The callbacks of QEMU call it:
/// `vcpu` is that of the processor that runs, `info` QEMU's description of the access, `address` virtual.
///
/// Within a filter interval a processor's accesses to a line that it has recorded with enough permission are
/// taken for hits of its L1 and are not recorded again. An interval begins with each time slice, so that a
/// processor sees what others stored meanwhile.
class Accesses {
public:
    /// `skips_polls`: polls may be counted without being executed. `notes`: null if no notes are taken. The
    /// references must outlive this object.
    Accesses(const model::Machine& machine, GuestRam& ram, PhasePage& page, Epochs& epochs,
             GuestMemory& memory, MissNotes* notes, bool skips_polls);

    // --- blocks ---
    /// A time slice of `vcpu` has begun. `registers`: QEMU's state of the processor.
    void begin_slice(Vcpu& vcpu, const void* registers) const;
    /// Before the next block, at Vcpu::check_at: a filter interval or a share may have ended. Returns false
    /// if the time slice must end before this block.
    bool check(Vcpu& vcpu) const;
    /// The processor's address space or page tables may have changed.
    void translation_changed(Vcpu& vcpu) const;

    // --- accesses ---
    /// A block begins whose code lies in this physical line: records the fetch of the line.
    void fetch(Vcpu& vcpu, model::Line line) const;
    void load_or_store(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind,
                       bool may_cross) const;
    /// An access in one line that the filter holds, if notes are taken.
    void note_again(const Vcpu& vcpu, std::uint64_t address, std::uint64_t bytes, model::Kind kind) const {
        notes_->again(vcpu, address, bytes, kind, epochs_.number());
    }
    /// Called instead of load_or_store if notes are taken. If the access crosses a line, each of the two
    /// lines gets a note.
    void noted_access(Vcpu& vcpu, const Site& site, std::uint32_t info, std::uint64_t address,
                      model::Kind kind) const;
    /// A memcpy begins. If a kernel module calls it, the copy counts as accesses of a device: the disk's
    /// driver is a module.
    static void copy_begins(Vcpu& vcpu);
    /// An access of a memcpy that counts as accesses of a device.
    void device_access(Vcpu& vcpu, std::uint32_t info, std::uint64_t address, model::Kind kind) const;

    /// The load generator hands the phase page over by a store to the second word at this address.
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
