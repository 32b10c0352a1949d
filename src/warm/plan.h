// SPDX-License-Identifier: GPL-2.0-or-later
// Plans the accesses that bring cold caches into a wanted state of the protocol `hammer`, with the order of
// replacement. Three spare cores with tiny caches help: a writer and a reader hold blocks that they give up
// again, and a pacer spends time (trace.h).
//
// The plan of a group has these stages. An access may push a line of an L1 into the L2 set of the line. No
// stage pushes a line out of an L2, because a set gets only the lines that it shall hold in the end.
// 1. The writer and the reader leave lines for which memory assumes sharers.
// 2. Owners that other cores read early are brought in early.
// 3. The lines of the L2s pass through an L1, core by core, the oldest line of each set first. A line that
//    the core already holds is touched, which moves it to its place in the order of replacement.
// 4. The lines of the L1s follow. Dummy lines push the last lines of stage 3 to the L2. A store of the writer
//    removes the dummy lines.
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
    unsigned cycles = 0;  ///< duration on an otherwise idle machine
};

class Planner {
public:
    /// `made` has the machine's cores and the spare cores. It is cold, and plays what is planned.
    Planner(const Layout& layout, const Names& names, model::Hierarchy& made)
        : layout_(layout), names_(names), made_(made) {}

    /// assumed: the lines of the group for which memory assumes sharers. Throws model::Error if the method
    /// cannot rebuild the group.
    std::vector<Step> plan(const Group& group, const std::vector<model::Line>& assumed);

private:
    unsigned writer() const { return layout_.cores; }
    unsigned reader() const { return layout_.cores + 1; }

    void order_cores();
    void find_early();
    bool is_early(const Wanted& owner) const;
    bool feasible(unsigned core) const;
    /// The L1 through which a core's lines of an L2 set pass.
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
    std::vector<unsigned> order_;  ///< cores in the order of stage 3
    std::vector<unsigned> rank_;   ///< of each core in `order_`
    std::unordered_set<model::Line> early_;
    std::vector<Step> steps_;
};

}  // namespace s80::replay
