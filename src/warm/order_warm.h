// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of s80-step that write warm states and traces for them. gem5 gets a warm state by such a
// trace.
#pragma once
#include "replay/order_commands.h"

namespace s80::replay {

/// Plays a trace from cold caches, and writes the state that it leaves.
void warm_order(const Options& options);
/// Writes a trace that brings cold caches into a given state, and prints facts about the trace as JSON.
void rebuild_order(const Options& options);

}  // namespace s80::replay
