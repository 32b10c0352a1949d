// SPDX-License-Identifier: GPL-2.0-or-later
// SEARCH: translates its keys into a search program for c-client.
#pragma once

#include <vector>

#include "mailbox.hpp"
#include "parser.hpp"

namespace s80::uw {

/// Reads the keys up to the end of the command and searches. Returns message numbers, or UIDs, in order.
std::vector<unsigned long> search(Mailbox& mailbox, Parser& parser, bool by_uid);

}  // namespace s80::uw
