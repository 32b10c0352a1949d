// SPDX-License-Identifier: GPL-2.0-or-later
#include "list_attributes.h"

#include <array>

#include "c_client.h"

namespace s80::uw {

std::string list_attributes(long bits) {
    struct Attribute {
        long bit;
        const char* name;
    };
    constexpr std::array<Attribute, 6> kKnown = {{{LATT_NOINFERIORS, "\\NoInferiors"},
                                                  {LATT_NOSELECT, "\\NoSelect"},
                                                  {LATT_MARKED, "\\Marked"},
                                                  {LATT_UNMARKED, "\\UnMarked"},
                                                  {LATT_HASCHILDREN, "\\HasChildren"},
                                                  {LATT_HASNOCHILDREN, "\\HasNoChildren"}}};
    std::string names;
    for (const auto& [bit, name] : kKnown) {
        if ((bits & bit) != 0) {
            names.append(names.empty() ? "" : " ").append(name);
        }
    }
    return names;
}

}  // namespace s80::uw
