// SPDX-License-Identifier: GPL-2.0-or-later
#include "coherence/protocol.h"

#include <algorithm>

namespace s80::model {

State Protocol::find(std::string_view name) const {
    for (unsigned s = 0; s < n_states_; ++s) {
        if (info_[s].name == name) {
            return static_cast<State>(s);
        }
    }
    throw Error("protocol " + name_ + " has no state named " + std::string(name));
}

bool Protocol::leaves_shared() const {
    const auto& row = own_[static_cast<unsigned>(OwnEvent::evict)];
    return std::any_of(row.begin(), row.end(), [](const OwnCell& cell) { return cell.leaves_shared; });
}

}  // namespace s80::model
