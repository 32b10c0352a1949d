// SPDX-License-Identifier: GPL-2.0-or-later
// Records which memory the guest's processes map and allocate. The plugin watches calls of functions of the
// kernel and of memory allocators.
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

/// Owns the records of mappings and allocations. The callbacks of QEMU call it at the first instruction of a
/// watched function; the arguments of the function are then in the registers. `vcpu`: context of the
/// processor that executes. `epoch`: number of the epoch that is being recorded.
class Processes {
public:
    /// `ram` must outlive this object.
    Processes(const Arguments& arguments, GuestRam& ram);
    /// Observes `merger`, which must outlive this object. A record gets its simulated time, and is written,
    /// when the timing merger plays its epoch.
    void observe(model::TimingMerger& merger, const model::Machine& machine);

    /// The record of mappings; null if mappings are not recorded.
    const Mappings* mappings() const { return mappings_.get(); }
    const Allocations& allocations() const { return allocations_; }

    /// The kernel calls a function that reports an event of a process, for example a new mapping
    /// (Mappings::Hook).
    void changes(Mappings::Hook hook, Vcpu& vcpu, std::uint64_t epoch);
    /// A program calls a function of its allocator (begins), and the function returns (ends). `size`: which
    /// argument is the size. `running`: what `vcpu` runs.
    void allocation_begins(Allocations::Size size);
    void allocation_ends(const Vcpu& vcpu, const Running& running, std::uint64_t epoch);

    /// Call it after all epochs have been played: completes the file.
    void finish();

private:
    GuestRam& ram_;
    std::unique_ptr<Mappings> mappings_;
    Allocations allocations_;
};

}  // namespace s80::plugin
