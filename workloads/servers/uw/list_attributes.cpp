// SPDX-License-Identifier: GPL-2.0-or-later
#include "list_attributes.hpp"

#include <array>

#include "c_client.hpp"

namespace s80::uw {

std::string list_attributes(long bits) {
    struct Attribute {
        long bit;
        const char* name;
    };
    constexpr std::array<Attribute, 6> known = {{{LATT_NOINFERIORS, "\\NoInferiors"},
                                                 {LATT_NOSELECT, "\\NoSelect"},
                                                 {LATT_MARKED, "\\Marked"},
                                                 {LATT_UNMARKED, "\\UnMarked"},
                                                 {LATT_HASCHILDREN, "\\HasChildren"},
                                                 {LATT_HASNOCHILDREN, "\\HasNoChildren"}}};
    std::string names;
    for (const auto& [bit, name] : known) {
        if ((bits & bit) != 0) names.append(names.empty() ? "" : " ").append(name);
    }
    return names;
}

}  // namespace s80::uw
