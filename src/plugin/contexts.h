// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of tasks: process class and kernel entry cause of the code on each processor.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "plugin/arguments.h"
#include "plugin/guest_ram.h"
#include "plugin/miss_notes.h"
#include "plugin/tasks.h"
#include "plugin/vcpu.h"
#include "plugin/vcpus.h"

namespace s80::plugin {

/// Owns what each processor runs (Running), and writes the contexts of the vCPU contexts (Vcpu::contexts).
/// They come from the processor's task, or, if the kernel layout is not known, from the markers about the
/// address space. The callbacks of QEMU call it; `vcpu` is that of the processor that runs.
class Contexts {
public:
    /// Reads the kernel layout, if there is one. The references must outlive this object.
    Contexts(const Arguments& arguments, const Vcpus& vcpus, GuestRam& ram);

    /// From now on tells `notes` at each change what the processors run.
    void tell(MissNotes& notes) { notes_ = &notes; }
    /// Null if the kernel layout is not known.
    const Kernel* kernel() const { return tasks_ ? &tasks_->kernel() : nullptr; }
    const Running& running(unsigned processor) const { return running_[processor]; }

    /// Performs the checks in Vcpu::attention before a block. Returns false if nothing is to be recorded.
    bool attend(Vcpu& vcpu);
    /// Code of another context runs from here on.
    void change(Vcpu& vcpu, model::Context context);
    /// Called after the instruction that switches tasks.
    static void task_switched(Vcpu& vcpu);
    void kernel_entered(Vcpu& vcpu, model::KernelEntry entry);
    void interrupt_returns(Vcpu& vcpu);
    /// The function that handles soft interrupts may return here.
    void soft_interrupts_may_end(Vcpu& vcpu);

    /// A marker names the process class of the address space that runs.
    void set_process_class(std::uint8_t process_class);
    /// Process classes that markers gave, by CR3, for a checkpoint.
    const std::map<std::uint64_t, std::uint8_t>& process_classes() const { return process_classes_; }
    void restore_process_class(std::uint64_t cr3, std::uint8_t process_class) {
        process_classes_[cr3] = process_class;
    }

private:
    void look_at_task(Vcpu& vcpu);
    void look_at_address_space(Vcpu& vcpu) const;
    void show(Vcpu& vcpu);

    const Vcpus& vcpus_;
    std::optional<Tasks> tasks_;    ///< if the kernel layout is known
    std::vector<Running> running_;  ///< by processor
    std::map<std::uint64_t, std::uint8_t> process_classes_;
    MissNotes* notes_ = nullptr;
};

}  // namespace s80::plugin
