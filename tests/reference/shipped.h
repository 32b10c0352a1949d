// SPDX-License-Identifier: GPL-2.0-or-later
// The protocol tables of configs/protocols.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "coherence/protocol.h"

namespace s80::reference {

/// Paths of every table, in the order of their names: those that a machine without last-level cache and
/// directory plays, or those with a [home].
inline std::vector<std::string> shipped_tables(bool home = false) {
    const auto fits = [home](const model::Protocol& protocol) {
        return home ? protocol.has_home() : protocol.bus_suffices();
    };
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(S80_PROTOCOLS)) {
        if (entry.path().extension() == ".toml" && fits(model::Protocol::load(entry.path().string()))) {
            paths.push_back(entry.path().string());
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace s80::reference
