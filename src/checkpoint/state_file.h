// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the state of the model (caches, clock, counters) in a file beside a warm checkpoint of the guest, and
// restores it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "memory/hierarchy.h"
#include "timing/merger.h"

namespace s80::model {

/// State of the plugin that the file also contains. Only the plugin knows what the words mean.
using Extra = std::vector<std::uint64_t>;

/// Writes the file, which gets its name when it is complete. Throws Error.
void save_state(const std::string& path, Hierarchy& hierarchy, const TimingMerger& merger,
                const Extra& extra);

/// Restores what save_state() wrote for the same machine and protocol, and returns the plugin's words. Throws
/// Error that names the file if it is truncated, corrupt, or of another geometry.
Extra load_state(const std::string& path, Hierarchy& hierarchy, TimingMerger& merger);

}  // namespace s80::model
