// SPDX-License-Identifier: GPL-2.0-or-later
// Records what the guest's processes map and allocate, by watching calls of functions of the kernel and of
// allocators.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "machine/machine.h"
#include "plugin/allocations.h"
#include "plugin/arguments.h"
#include "plugin/guest_ram.h"
#include "plugin/mappings.h"
#include "plugin/tasks.h"
#include "plugin/vcpu.h"
#include "timing/merger.h"

namespace s80::plugin {

/// Owns the records of mappings and allocations. The callbacks of QEMU call it where the kernel or a program
/// enters a function that it watches. The function's arguments are in the registers. `vcpu` is that of the
/// processor that runs, `epoch` the number of the epoch that is being recorded.
class Processes {
public:
    /// `ram` must outlive this object.
    Processes(const Arguments& arguments, GuestRam& ram);
    /// Observes `merger`, which must outlive this object: a record gets its simulated time, and is written,
    /// when its epoch is played.
    void observe(model::TimingMerger& merger, const model::Machine& machine);

    /// Null if no mappings are recorded.
    const Mappings* mappings() const { return mappings_.get(); }
    const Allocations& allocations() const { return allocations_; }

    /// The kernel calls a function that reports an event of a process.
    void changes(Mappings::Hook hook, Vcpu& vcpu, std::uint64_t epoch);
    /// A program calls a function of its allocator, and the function returns. `running`: what `vcpu` runs.
    void allocation_begins(Allocations::Size size);
    void allocation_ends(const Vcpu& vcpu, const Running& running, std::uint64_t epoch);

    /// All epochs have been played: completes the files.
    void finish();

private:
    GuestRam& ram_;
    std::unique_ptr<Mappings> mappings_;
    Allocations allocations_;
};

}  // namespace s80::plugin
