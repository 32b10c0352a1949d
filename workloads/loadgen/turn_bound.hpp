// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds QEMU's turns (docs/clock.md). Under -icount QEMU lets each of its N processors run for an Nth of the
// time to the next timer that the guest has set. The old interval timer (PIT), which Linux has no use for
// once the local APICs tick, is set to run out often; the interrupt it raises is masked, so the guest does
// not notice.
#pragma once

#include <cstdint>

namespace s80::loadgen {

/// The PIT's count for turns of at most so many instructions on a machine of so many processors: it changes
/// its output twice a period (mode 3), each time QEMU's turns end. Bounded by the counter's 16 bits.
std::uint16_t pit_count(unsigned turn_instructions, unsigned processors);

/// Bounds the turns of all processors; 0 takes the bound away.
void bound_turns(unsigned turn_instructions);

}  // namespace s80::loadgen
