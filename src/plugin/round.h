// SPDX-License-Identifier: GPL-2.0-or-later
// The round in which QEMU executes the guest's processors, one time slice each.
#pragma once
#include <array>
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::plugin {

/// Removes processors from this round, and adds them again. If the plugin has nothing to execute on a
/// processor, it leaves the processor out: to let QEMU begin a time slice and end it at once would cost the
/// host about as much time as a hundred instructions.
class Round {
public:
    virtual ~Round() = default;
    /// From now on QEMU does not execute this processor, until take_in(). It must be the running processor.
    virtual void leave_out(unsigned processor) = 0;
    /// From now on QEMU executes this processor again, which leave_out() has removed.
    virtual void take_in(unsigned processor) = 0;
};

/// Sets the field `stopped` in QEMU's structure of a processor (CPUState), as QEMU does when the machine is
/// paused: QEMU does not execute a processor with this field set. Checkpoints do not contain the field, and
/// QEMU clears it when the paused machine continues.
class QemuRound final : public Round {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    QemuRound();
    /// Verifies with QEMU's own function that the field is where this class expects it. Call it while QEMU
    /// translates a block, so that there is a running processor. Throws Error if this QEMU is not known.
    void verify() const;

    void leave_out(unsigned processor) override;
    void take_in(unsigned processor) override;

private:
    volatile std::uint8_t* stopped() const;

    bool (*is_stopped_)(void* cpu);
    /// Address of QEMU's thread-local pointer to the running processor (CPUState).
    std::uint8_t* const* current_;
    /// Addresses of the `stopped` fields of the processors that were left out, by processor.
    std::array<volatile std::uint8_t*, model::kMaxCores> left_out_{};
};

}  // namespace s80::plugin
