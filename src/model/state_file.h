// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of the caches, the clock and the counters as a file beside a warm checkpoint.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/hierarchy.h"
#include "model/player.h"

namespace s80::model {

/// Words of the recording side that travel with the model (its meaning is the plugin's).
using Extra = std::vector<std::uint64_t>;

/// Writes to a temporary name and renames: the file is whole or absent. Throws Error.
void save_state(const std::string& path, Hierarchy& hierarchy, const Player& player, const Extra& extra);

/// Reads what save_state wrote for the same machine and protocol; throws Error naming the file when
/// it is truncated, corrupt or of another geometry.
Extra load_state(const std::string& path, Hierarchy& hierarchy, Player& player);

}  // namespace s80::model
