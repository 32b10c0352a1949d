// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/vcpus.h"

#include <string>

#include "plugin/registers.h"

namespace s80::plugin {

namespace {

constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

}  // namespace

Vcpu* running_vcpu = nullptr;
void* running_state = nullptr;

Vcpus::Vcpus(unsigned processors) : area_of_(processors, 0) {
    for (unsigned p = 0; p < processors; ++p) {
        vcpus_.push_back(std::make_unique<Vcpu>());
        vcpus_.back()->processor = p;
    }
}

/// Returns the context of a vCPU; unbound_ if it is not bound. In a restored guest, the address of the
/// kernel's per-CPU area identifies the processor: it is in GS in kernel mode, and in KernelGSBase in user
/// mode.
Vcpu* Vcpus::find(void* vcpu_state) {
    for (const auto& [state, vcpu] : by_state_) {
        if (state == vcpu_state) {
            return vcpu;
        }
    }
    for (const Register r : {Register::gs_base, Register::k_gs_base}) {
        const auto it = areas_.find(read_register(r));
        if (it != areas_.end()) {
            by_state_.emplace_back(vcpu_state, vcpus_[it->second].get());
            return by_state_.back().second;
        }
    }
    return &unbound_;
}

bool Vcpus::bind(void* vcpu_state, unsigned processor) {
    if (processor >= vcpus_.size()) {
        throw model::Error("the guest has a processor " + std::to_string(processor) +
                           ", but the machine file has only " + std::to_string(vcpus_.size()));
    }
    const std::uint64_t kernel = read_register(Register::k_gs_base);
    const std::uint64_t area = (kernel & kKernelHalf) != 0 ? kernel : read_register(Register::gs_base);
    const auto known = areas_.find(area);
    if (known != areas_.end()) {
        if (known->second != processor) {
            throw model::Error("two processors of the guest share one per-CPU area");
        }
        return false;
    }
    by_state_.emplace_back(vcpu_state, vcpus_[processor].get());
    restore(area, processor);
    running_vcpu = vcpus_[processor].get();
    return areas_.size() == vcpus_.size();
}

/// Binds the processor. Its instructions are recorded from the next block on.
void Vcpus::restore(std::uint64_t area, unsigned processor) {
    areas_[area] = processor;
    area_of_[processor] = area;
    vcpus_[processor]->attention = kAddressSpace | kTask;
    vcpus_[processor]->filter.key.begin();
}

}  // namespace s80::plugin
