// SPDX-License-Identifier: GPL-2.0-or-later
// vCPU binding: which processor of the guest each vCPU of QEMU is, and which one runs.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plugin/vcpu.h"

namespace s80::plugin {

/// Owns the vCPU contexts. QEMU's callbacks name a vCPU by the address of its TCG state. Each processor of
/// the guest executes a marker once, which names the processor. In a restored guest the address of the
/// kernel's per-CPU area identifies the processor. One thread runs all vCPUs.
class Vcpus {
public:
    explicit Vcpus(unsigned processors);

    const VcpuList& vcpus() const { return vcpus_; }
    /// Whether the vCPU of each processor is known.
    bool all_seen() const { return by_state_.size() == vcpus_.size(); }
    unsigned seen() const { return static_cast<unsigned>(by_state_.size()); }
    /// The guest's processor `processor` runs on this vCPU. Returns whether this binds the last one. Throws
    /// model::Error if the guest has more processors than the machine.
    bool bind(void* vcpu_state, unsigned processor);

    /// Call it before a block of a vCPU that is not `running_state`: a time slice begins. If the vCPU is
    /// bound, calls `begin(vcpu)`, which returns whether the processor may execute. If it may not, no vCPU is
    /// running: QEMU may go on with the one that ran before, which then begins a new time slice.
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
    /// The next block begins a time slice, even if it is of the same vCPU.
    static void leave() { running_state = nullptr; }

    /// Virtual address of the kernel's per-CPU area for this processor.
    std::uint64_t area(unsigned processor) const { return area_of_[processor]; }
    /// The bound processors by the addresses of their per-CPU areas, for a checkpoint.
    const std::map<std::uint64_t, unsigned>& areas() const { return areas_; }
    /// Binds a processor of a restored guest. Its vCPU is found by the address of the per-CPU area when the
    /// vCPU first executes.
    void restore(std::uint64_t area, unsigned processor);

private:
    Vcpu* find(void* vcpu_state);

    VcpuList vcpus_;
    Vcpu unbound_;                                   ///< vCPUs that no marker has named yet
    std::vector<std::pair<void*, Vcpu*>> by_state_;  ///< by TCG's state pointer
    std::map<std::uint64_t, unsigned> areas_;
    std::vector<std::uint64_t> area_of_;  ///< by processor: address of its per-CPU area
};

}  // namespace s80::plugin
