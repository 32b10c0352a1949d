// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the items of a FETCH command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser.h"

namespace s80::uw {

struct FetchItem {
    enum class What { flags, uid, internal_date, size, whole, header, header_fields, text };
    struct Part {
        unsigned long first, count;
    };

    What what = What::flags;
    std::string label;       // as the reply names it
    bool sets_seen = false;  // not for those that only peek
    bool all_but = false;    // HEADER.FIELDS.NOT
    std::vector<std::string> fields;
    std::optional<Part> part;  // <first.count>
};

/// Reads one item, a list in brackets or a macro. Throws BadSyntax, also for items that are not supported.
std::vector<FetchItem> parse_fetch_items(Parser& parser);

}  // namespace s80::uw
