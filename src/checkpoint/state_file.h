// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the contents of the caches, the clock and the counters in a file next to a warm checkpoint.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "memory/hierarchy.h"
#include "timing/merger.h"

namespace s80::model {

/// State of the recording side, which the file also contains. Only the plugin interprets these words.
using Extra = std::vector<std::uint64_t>;

/// Writes under a temporary name and renames the file when it is complete. Throws Error.
void save_state(const std::string& path, Hierarchy& hierarchy, const TimingMerger& merger,
                const Extra& extra);

/// Reads a file of save_state for the same machine and protocol. Throws Error that names the file if it is
/// truncated, corrupt or of another geometry.
Extra load_state(const std::string& path, Hierarchy& hierarchy, TimingMerger& merger);

}  // namespace s80::model
