// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out which task each processor runs, and from it the process class and the kernel entry cause under
// which the processor's instructions are counted.
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

/// Owns what each processor runs (Running), and writes it into the vCPU contexts (Vcpu::contexts). The source
/// is the kernel's task structure in guest memory. If the kernel layout is not known, the source is the
/// markers that name the process class of an address space. The callbacks of QEMU call this class; `vcpu` is
/// the context of the processor that executes.
class Contexts {
public:
    /// Reads the kernel layout if the arguments name a file with it. The references must outlive this object.
    Contexts(const Arguments& arguments, const Vcpus& vcpus, GuestRam& ram);

    /// From now on, each change of a processor's task or kernel entry is also reported to `notes`.
    void tell(MissNotes& notes) { notes_ = &notes; }
    /// The kernel layout; null if it is not known.
    const Kernel* kernel() const { return tasks_ ? &tasks_->kernel() : nullptr; }
    const Running& running(unsigned processor) const { return running_[processor]; }

    /// Performs the checks that are pending in Vcpu::attention, before a block. Returns false if the block
    /// must not be recorded, because no marker has bound this vCPU to a processor yet.
    bool attend(Vcpu& vcpu);
    /// The block that begins is executed in another context than the last one: the processor changed between
    /// user code and kernel code, or runs another task.
    void change(Vcpu& vcpu, model::Context context);
    /// Called after the kernel's instruction that makes another task the current one.
    static void task_switched(Vcpu& vcpu);
    /// The block that begins is an entry into the kernel. `entry`: its cause.
    void kernel_entered(Vcpu& vcpu, model::KernelEntry entry);
    /// Called before IRET: the innermost entry into the kernel ends.
    void interrupt_returns(Vcpu& vcpu);
    /// Called before a return instruction that may end the kernel's function for soft interrupts; checks
    /// whether it does.
    void soft_interrupts_may_end(Vcpu& vcpu);

    /// The running processor executes a marker that names the process class of its address space.
    /// `process_class`: the marker's number.
    void set_process_class(std::uint8_t process_class);
    /// The numbers that such markers gave, by address space (CR3), for a checkpoint.
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
