// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/home/home.h"

namespace s80::model {

void Home::supplied(Reply& reply, Outcome& outcome, Bus bus, State state) const {
    const RemoteCell& cell = parts_.protocol.remote(bus, state);
    if (outcome.supplier < parts_.stats.cores()) [[likely]] {
        ++parts_.stats.core(Stat::interventions, outcome.supplier);
    }
    outcome.state = parts_.protocol.state(state).counts_as;
    reply.gives = cell.gives;
    reply.given = cell.given;
}

}  // namespace s80::model
