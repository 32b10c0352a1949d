// SPDX-License-Identifier: GPL-2.0-or-later
// The protocol tables of configs/protocols.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "coherence/protocol.h"

namespace s80::reference {

/// Paths of every table that a machine without last-level cache and directory plays, in the order of their
/// names.
inline std::vector<std::string> shipped_tables() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(S80_PROTOCOLS)) {
        if (entry.path().extension() == ".toml" &&
            model::Protocol::load(entry.path().string()).bus_suffices()) {
            paths.push_back(entry.path().string());
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace s80::reference
