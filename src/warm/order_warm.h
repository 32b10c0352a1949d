// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of s80-step for warm states.
#pragma once
#include "replay/order_commands.h"

namespace s80::replay {

/// Plays a trace from cold caches and writes the state.
void warm_order(const Options& options);
/// Writes a trace that rebuilds a state, and prints facts as JSON.
void rebuild_order(const Options& options);

}  // namespace s80::replay
