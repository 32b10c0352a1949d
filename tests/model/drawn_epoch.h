// SPDX-License-Identifier: GPL-2.0-or-later
// Draws what a guest executes: accesses of several processors to a few lines, some of them
// read-modify-writes.
#pragma once
#include <rapidcheck.h>

#include <vector>

#include "model/ordered_epoch.h"

namespace s80::model::test {

inline std::vector<Access> drawn_accesses(unsigned processors) {
    struct Drawn {
        unsigned processor = 0;
        Line line = 0;
        unsigned kind = 0;
        std::uint16_t after = 1;
    };
    const auto one = rc::gen::map(
        rc::gen::tuple(rc::gen::inRange(0U, processors), rc::gen::inRange<Line>(0, 6),
                       rc::gen::inRange(0U, 4U), rc::gen::element<std::uint16_t>(1, 2, 30, 400, 3000)),
        [](const auto& all) { return std::apply([](auto... of) { return Drawn{of...}; }, all); });
    std::vector<Access> executed;
    for (const Drawn& drawn : *rc::gen::container<std::vector<Drawn>>(one)) {
        constexpr unsigned kReadModifyWrite = 3;
        const Op op = drawn.kind == 1 ? Op::store : drawn.kind == 2 ? Op::walk : Op::load;
        executed.push_back({drawn.processor, drawn.line, op, drawn.after});
        if (drawn.kind == kReadModifyWrite) {
            executed.push_back({drawn.processor, drawn.line, Op::store, 0});
        }
    }
    return executed;
}

}  // namespace s80::model::test
