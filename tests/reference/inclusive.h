// SPDX-License-Identifier: GPL-2.0-or-later
// Private L1I and L1D beneath an L2 that holds every line of theirs.
#pragma once
#include <vector>

#include "hierarchy.h"

namespace s80::reference {

class InclusiveHierarchy final : public Hierarchy {
public:
    InclusiveHierarchy(const Machine& machine, const Table& table);

    L1View l1i(unsigned core, Line line) override;
    L1View l1d(unsigned core, Line line) override;

private:
    /// A copy in an L1. It has a value of its own, so that a stale copy shows.
    struct Copy {
        Line line = 0;
        bool writable = false;
        std::uint64_t value = 0;
    };
    struct Core {
        RecencySets<Copy> l1i, l1d;
        RecencySets<Block> l2;
    };

    bool l1_serves(unsigned core, const Access& access) override;
    bool l1_has(unsigned core, const Access& access) override;
    Service beyond_l1(unsigned core, const Access& access) override;
    Service in_gem5_order(unsigned core, const Access& access);
    Block* held(unsigned core, Line line) override { return cores_[core].l2.find(line); }
    void drop(unsigned core, Line line) override;
    void state_changed(unsigned core, const Block& block) override;
    std::uint64_t& l1_value(unsigned core, const Access& access) override;

    RecencySets<Copy>& l1_of(unsigned core, const Access& access);
    void fill_l1(unsigned core, const Access& access, const Block& block);

    std::vector<Core> cores_;
};

}  // namespace s80::reference
