// SPDX-License-Identifier: GPL-2.0-or-later
// Transactions are known by their place in the list of their protocol: the number that the markers bear
// (docs/reference/interfaces/markers.md).
#pragma once

#include <cstddef>

namespace s80::loadgen {

using TransactionType = std::size_t;

}  // namespace s80::loadgen
