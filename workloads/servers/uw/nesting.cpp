// SPDX-License-Identifier: GPL-2.0-or-later
#include "nesting.h"

namespace s80::uw {

bool nests_too_deeply(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        switch (text[i]) {
            case '(':
                if (++depth > kDeepestComment) {
                    return true;
                }
                break;
            case ')':
                if (depth > 0) {
                    --depth;
                }
                break;
            case '\\':  // an escaped ')' does not end a comment; an escaped '(' is counted to be safe
                if (next == ')' || next == '\\') {
                    ++i;
                }
                break;
            case '\n':
                if (next != ' ' && next != '\t') {
                    depth = 0;
                }
                break;
            default: break;
        }
    }
    return false;
}

}  // namespace s80::uw
