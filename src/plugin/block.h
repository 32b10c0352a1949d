// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a translated block before it runs.
#pragma once
#include <array>
#include <cstdint>
#include <deque>

#include "model/statistics.h"
#include "model/types.h"

namespace s80::plugin {

struct Block {
    std::uint32_t instructions = 0;
    std::uint8_t privilege = 0;
    /// Lines of the code: consecutive in each of at most two pages.
    std::array<std::uint8_t, 2> lines{};
    std::array<model::Line, 2> first{};
    std::array<std::uint64_t, model::kParties> executed{};
    std::array<std::uint16_t, model::kInstructionClasses> classes{};
};

using ClassCounts = std::array<std::array<std::uint64_t, model::kInstructionClasses>, model::kContexts>;

/// All blocks since QEMU last dropped its translations; what ran before is in the sums.
class Blocks {
public:
    Block& add() { return blocks_.emplace_back(); }

    /// Instructions by class and context, of everything that ran.
    ClassCounts counts() const {
        ClassCounts all = before_;
        for (const Block& b : blocks_) {
            for (unsigned party = 0; party < model::kParties; ++party) {
                if (b.executed[party] == 0) {
                    continue;
                }
                auto& row = all[b.privilege * model::kParties + party];
                for (unsigned i = 0; i < model::kInstructionClasses; ++i) {
                    row[i] += b.executed[party] * b.classes[i];
                }
            }
        }
        return all;
    }
    void set_before(const ClassCounts& counts) { before_ = counts; }

    /// QEMU dropped every translation: no block of the list will run again.
    void flush() {
        before_ = counts();
        blocks_.clear();
    }

private:
    std::deque<Block> blocks_;
    ClassCounts before_{};
};

}  // namespace s80::plugin
