// SPDX-License-Identifier: GPL-2.0-or-later
// The round in which QEMU runs the processors, one time slice each.
#pragma once
#include <array>
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::plugin {

/// The order in which QEMU runs the processors. A processor that the plugin would skip is left out of it,
/// because skipping costs the host about as much time as a hundred instructions.
class Round {
public:
    virtual ~Round() = default;
    /// From now on QEMU does not run this processor, which is the running one, until take_in().
    virtual void leave_out(unsigned processor) = 0;
    virtual void take_in(unsigned processor) = 0;
};

/// Sets the field `stopped` of a processor, as QEMU does when the machine is paused: QEMU does not run such a
/// processor. Checkpoints do not contain this field. QEMU clears the field when the machine is paused and
/// resumed.
class QemuRound final : public Round {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    QemuRound();
    /// Verifies by QEMU's own function that the field is where it is expected. Call it while QEMU translates
    /// a block. Throws Error if this QEMU is not known.
    void verify() const;

    void leave_out(unsigned processor) override;
    void take_in(unsigned processor) override;

private:
    volatile std::uint8_t* stopped() const;

    bool (*is_stopped_)(void* cpu);
    std::uint8_t* const* current_;  ///< QEMU's thread-local pointer to the running processor
    std::array<volatile std::uint8_t*, model::kMaxCores> left_out_{};  ///< their `stopped` fields
};

}  // namespace s80::plugin
