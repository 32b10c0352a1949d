// SPDX-License-Identifier: GPL-2.0-or-later
// Binds QEMU's vCPUs to the guest's processors, and knows which one executes.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plugin/vcpu.h"

namespace s80::plugin {

/// Owns the vCPU contexts. QEMU's callbacks identify a vCPU by the address of its state in TCG. The guest
/// says which of its processors the vCPU is: on each processor, a program executes a marker with the
/// processor's number. In a guest restored from a checkpoint, the address of the kernel's per-CPU area
/// identifies the processor.
class Vcpus {
public:
    explicit Vcpus(unsigned processors);

    const VcpuList& vcpus() const { return vcpus_; }
    /// Whether each processor of the guest has a known vCPU.
    bool all_seen() const { return by_state_.size() == vcpus_.size(); }
    unsigned seen() const { return static_cast<unsigned>(by_state_.size()); }
    /// The vCPU is the guest's processor with this number. Returns whether now all processors are bound.
    /// Throws model::Error if the machine has no such processor.
    bool bind(void* vcpu_state, unsigned processor);

    /// Call it before a block of a vCPU that is not `running_state`: a time slice begins. If the vCPU is
    /// bound, calls `begin(vcpu)`, which returns whether the processor may execute. If it may not, returns
    /// false, and no vCPU counts as running: QEMU may then continue with any vCPU, which begins a new time
    /// slice.
    template <class Begin>
    bool enter(void* vcpu_state, Begin&& begin) {
        Vcpu* const next = find(vcpu_state);
        if (next->bound() && !begin(*next)) {
            leave();
            return false;
        }
        running_state = vcpu_state;
        running_vcpu = next;
        return true;
    }
    /// No vCPU counts as running from here on: the next block begins a time slice, even if it is of the same
    /// vCPU.
    static void leave() { running_state = nullptr; }

    /// Virtual address of the kernel's per-CPU area of this processor; 0: not bound.
    std::uint64_t area(unsigned processor) const { return area_of_[processor]; }
    /// The bound processors, by the addresses of their per-CPU areas, for a checkpoint.
    const std::map<std::uint64_t, unsigned>& areas() const { return areas_; }
    /// Binds a processor of a restored guest, by the address of its per-CPU area. Its vCPU becomes known when
    /// it executes.
    void restore(std::uint64_t area, unsigned processor);

private:
    Vcpu* find(void* vcpu_state);

    VcpuList vcpus_;
    Vcpu unbound_;  ///< the context of all vCPUs that no marker has bound yet
    /// The known vCPUs, by the address of their state in TCG.
    std::vector<std::pair<void*, Vcpu*>> by_state_;
    std::map<std::uint64_t, unsigned> areas_;
    std::vector<std::uint64_t> area_of_;  ///< address of the per-CPU area, by processor
};

}  // namespace s80::plugin
