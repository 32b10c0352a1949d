// SPDX-License-Identifier: GPL-2.0-or-later
// Plans accesses that bring cold caches into a wanted state, with the order of replacement, under the
// protocol `hammer`. Three spare cores with tiny caches help: the writer and the reader get blocks and give
// them up again, and the pacer lets time pass (warm/trace.h).
//
// The plan of a group has four stages. An access may push a line of an L1 into the line's L2 set. No stage
// pushes a line out of an L2, because a set gets only the lines that it is to hold in the end.
// 1. Writer and reader make memory assume sharers of the lines for which the wanted state has them.
// 2. Owners get those blocks early that other cores must read early.
// 3. The lines of each L2 pass through an L1, core by core, the least recently used line of each set first.
//    If the core already holds a line, it accesses the line again, which gives the line its place in the
//    order of replacement.
// 4. The lines of the L1s follow. Dummy lines push the last lines of stage 3 into the L2. Then stores of the
//    writer remove the dummy lines.
#pragma once
#include <unordered_set>
#include <vector>

#include "warm/group.h"

namespace s80::replay {

inline constexpr unsigned kSpares = 3;

struct Step {
    model::Line line = 0;
    std::uint8_t core = 0;
    model::Kind kind = model::Kind::load;
    unsigned cycles = 0;  ///< time that the access takes on an otherwise idle machine
};

class Planner {
public:
    /// `made`: cold caches of the machine's cores and the spare cores, on which the planner plays what it
    /// plans.
    Planner(const Layout& layout, const Names& names, model::Hierarchy& made)
        : layout_(layout), names_(names), made_(made) {}

    /// Plans the accesses for a group. `assumed`: lines of the group for which memory assumes sharers. Throws
    /// model::Error if the method cannot rebuild the group.
    std::vector<Step> plan(const Group& group, const std::vector<model::Line>& assumed);

private:
    unsigned writer() const { return layout_.cores; }
    unsigned reader() const { return layout_.cores + 1; }

    void order_cores();
    void find_early();
    bool is_early(const Wanted& owner) const;
    bool feasible(unsigned core) const;
    /// The L1 through which stage 3 brings the lines of this L2 set.
    Place path(unsigned core, model::Line set) const;
    bool has_room(unsigned core, Place place, model::Line set) const;

    void assume_sharers(const std::vector<model::Line>& lines);
    void bring_early(unsigned core);
    void fill_l2(unsigned core);
    void fill_l1(unsigned core, Place place, bool last);
    void push_out(unsigned core, Place place);
    void arrange(unsigned core, Place place);

    void acquire(unsigned core, const Copy& copy, Place place);
    void enter(unsigned core, model::Line line, Place place);
    void make_room(unsigned core, model::Line line, Place place);
    void flush(unsigned spare);
    void access(unsigned core, model::Kind kind, model::Line line);

    bool held(unsigned core, model::Line line) const;
    bool stays(unsigned core, model::Line line, Place place) const;
    const Group::Sets& wanted(unsigned core, Place place) const;
    unsigned sets(Place place) const { return place == Place::l1i ? layout_.sets_l1i : layout_.sets_l1d; }
    unsigned ways(Place place) const { return place == Place::l1i ? layout_.ways_l1i : layout_.ways_l1d; }

    const Layout& layout_;
    const Names& names_;
    model::Hierarchy& made_;
    const Group* group_ = nullptr;
    std::vector<unsigned> order_;  ///< the cores in the order in which stage 3 treats them
    std::vector<unsigned> rank_;   ///< by core: its position in `order_`
    std::unordered_set<model::Line> early_;
    std::vector<Step> steps_;
};

}  // namespace s80::replay
