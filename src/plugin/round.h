// SPDX-License-Identifier: GPL-2.0-or-later
// The round in which QEMU runs the processors, one time slice each.
#pragma once
#include <array>
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::plugin {

/// To skip a processor costs the host about as much time as a hundred instructions, so a processor that would
/// be skipped is left out of the round.
class Round {
public:
    virtual ~Round() = default;
    /// QEMU does not run this processor, which is the running one, until it is taken in.
    virtual void leave_out(unsigned processor) = 0;
    virtual void take_in(unsigned processor) = 0;
};

/// QEMU does not run a processor that is `stopped`, as when the machine is paused. No checkpoint contains
/// this field, and pausing and resuming the machine clears it.
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
