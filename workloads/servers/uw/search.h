// SPDX-License-Identifier: GPL-2.0-or-later
// SEARCH: translates its keys into a search program for c-client.
#pragma once

#include <vector>

#include "mailbox.h"
#include "parser.h"

namespace s80::uw {

struct Found {
    std::vector<unsigned long> messages;  // numbers, or UIDs, in order
    std::vector<unsigned long> left_out;  // numbers of messages that c-client must not parse
};

/// Reads the keys up to the end of the command and searches. Leaves messages out whose comments are nested
/// too deeply, if a key needs their header or body.
Found search(Mailbox& mailbox, Parser& parser, bool by_uid);

}  // namespace s80::uw
