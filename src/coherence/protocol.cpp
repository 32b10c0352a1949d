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

bool Protocol::has_llc() const {
    return std::any_of(home_info_.begin(), home_info_.end(),
                       [](const HomeStateInfo& state) { return state.data; });
}

bool Protocol::bus_suffices() const {
    if (has_llc()) {
        return false;
    }
    const auto ends = [&](HomeEvent event, HomeState h, bool granting) {
        const HomeCell& cell = home(event, h);
        return !cell.possible ||
               (grants_shared(cell.next[0][0]) == granting && grants_shared(cell.next[0][1]) == granting &&
                grants_shared(cell.next[1][0]) == granting && grants_shared(cell.next[1][1]) == granting);
    };
    for (unsigned h = 0; h < n_home_states_; ++h) {
        const auto from = static_cast<HomeState>(h);
        const bool granting = grants_shared(from);
        if (home(HomeEvent::fetch, from).grants_shared != granting || (granting && from == home_absent_) ||
            !ends(HomeEvent::read, from, granting) || !ends(HomeEvent::fetch, from, granting) ||
            !ends(HomeEvent::rfo, from, false) || !ends(HomeEvent::upgrade, from, false)) {
            return false;
        }
        for (unsigned s = 0; s < n_states_; ++s) {
            const OwnCell& evict = own(OwnEvent::evict, static_cast<State>(s));
            if (evict.put && !ends(put_event(static_cast<State>(s)), from, evict.leaves_shared)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace s80::model
