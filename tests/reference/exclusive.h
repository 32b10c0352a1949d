// SPDX-License-Identifier: GPL-2.0-or-later
// L1I, L1D and L2 of a core never hold the same line twice: L1 victims move to the L2, and what an access
// needs moves from the L2 to its L1.
#pragma once
#include <vector>

#include "hierarchy.h"

namespace s80::reference {

class ExclusiveHierarchy final : public Hierarchy {
public:
    ExclusiveHierarchy(const Machine& machine, const Table& table);

    L1View l1i(unsigned core, Line line) override;
    L1View l1d(unsigned core, Line line) override;

private:
    struct Core {
        RecencySets<Block> l1i, l1d, l2;
    };

    bool l1_serves(unsigned core, const Access& access) override;
    bool l1_has(unsigned core, const Access& access) override;
    Service beyond_l1(unsigned core, const Access& access) override;
    Block* held(unsigned core, Line line) override;
    void drop(unsigned core, Line line) override;
    void state_changed(unsigned, const Block&) override {}  // the block itself is what the L1 holds
    std::uint64_t& l1_value(unsigned core, const Access& access) override;

    RecencySets<Block>& l1_of(unsigned core, const Access& access);
    void move_to_l2(unsigned core, const Block& block);

    std::vector<Core> cores_;
};

}  // namespace s80::reference
