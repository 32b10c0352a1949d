// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/protocol.h"

namespace s80::model {

State Protocol::find(std::string_view name) const {
    for (unsigned s = 0; s < n_states_; ++s) {
        if (info_[s].name == name) {
            return static_cast<State>(s);
        }
    }
    throw Error("protocol " + name_ + " has no state named " + std::string(name));
}

}  // namespace s80::model
