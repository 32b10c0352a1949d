// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/tag_walk.h"

namespace s80::bench {

void TagWalk::event(unsigned processor, const model::Event& event, std::int64_t) {
    if (event.op > model::Op::walk) {
        return;
    }
    const auto core = static_cast<std::uint8_t>(processor / hierarchy_.machine().threads_per_core);
    const auto kind = static_cast<model::Kind>(event.op);
    const bool allowed = kind == model::Kind::store
                             ? hierarchy_.caches().l1_writable(core, event.line)
                             : hierarchy_.caches().in_l1(core, event.line, kind == model::Kind::ifetch);
    sharers_.add(event.line, core);  // so that the host has memory behind it
    accesses_.push_back({event.line, core, kind, !allowed});
}

std::uint64_t TagWalk::walk() const {
    std::uint64_t found = 0;
    for (const Access& a : accesses_) {
        const model::CoreCaches& core = hierarchy_.caches().core(a.core);
        found += core.l1(a.kind).find(a.line).way;
        if (a.beyond_l1) {
            found += core.l2.find(a.line).way;
            found += sharers_.cores(a.line).word();
        }
    }
    return found;
}

}  // namespace s80::bench
