// SPDX-License-Identifier: GPL-2.0-or-later
// Protocol tables with one mistake in them: what the comparison must notice.
#pragma once
#include <string>
#include <vector>

#include "table.h"

namespace s80::reference {

struct Alteration {
    std::string what;  ///< "remote.read M: next = S instead of O"
    std::string text;  ///< the whole table, altered
};

/// Every table that differs from the file's in one entry of one cell that was met (`table` has counted):
/// another next state, a transfer or a write-back more or less. Cells stand on one line each.
std::vector<Alteration> alterations(const std::string& path, const Table& table);
/// The same of every cell of the home that was met.
std::vector<Alteration> home_alterations(const std::string& path, const Table& table);

}  // namespace s80::reference
