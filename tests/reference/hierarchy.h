// SPDX-License-Identifier: GPL-2.0-or-later
// A naive model of the whole memory hierarchy, written from the documents and not from src/memory, to be
// compared with it. Every block carries a value: each store writes a new number, and whatever reads the line
// next must find that number, or the protocol has lost it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "counts.h"
#include "recency_sets.h"
#include "table.h"

namespace s80::reference {

using Line = std::uint32_t;

enum class Kind { ifetch, load, store, walk };  ///< in the order of `dims.kind`

struct Access {
    unsigned processor = 0;
    Kind kind = Kind::load;
    Line line = 0;
    unsigned privilege = 0;      ///< index into `dims.privilege`
    unsigned process_class = 0;  ///< index into `dims.class`
};

struct Shape {
    unsigned sets = 1;
    unsigned ways = 1;
};

/// Whether the L2 holds what the L1s hold, and in which order: gem5's, or that of textbooks.
enum class Organisation { inclusive, exclusive_gem5, exclusive_textbook, inclusive_gem5 };

struct Machine {
    unsigned cores = 1;
    unsigned threads_per_core = 1;
    Shape l1i, l1d, l2;
    Organisation organisation = Organisation::inclusive;
    /// Stall cycles.
    unsigned l2_hit = 0, memory = 0, cache = 0, upgrade = 0, llc_hit = 0, group_hit = 0;
    std::optional<Shape> group;  ///< one for each group of cores
    unsigned group_cores = 1;
    std::optional<Shape> llc;
    std::optional<Shape> directory;  ///< none: it knows every copy
    bool home() const { return llc || directory; }
    /// Those that hold blocks: the cores, and after them the group caches.
    unsigned agents() const { return cores + (group ? cores / group_cores : 0); }
    unsigned group_of(unsigned core) const { return cores + core / group_cores; }
};

/// A line as the coherence protocol sees it: one for each core or group cache that holds the line.
struct Block {
    Line line = 0;
    std::string state;
    bool e_since_fill = false;   ///< entered in E and never left it
    unsigned process_class = 0;  ///< that brought it into the core
    std::uint64_t value = 0;
};

/// What an L1 knows of a line.
struct L1View {
    bool present = false;
    bool writable = false;
    bool operator==(const L1View&) const = default;
};

class Hierarchy {
public:
    /// The table must live as long.
    static std::unique_ptr<Hierarchy> make(const Machine& machine, const Table& table);
    virtual ~Hierarchy() = default;

    /// Returns the stall cycles. Throws Unsound when the protocol loses a value, has two writers or a store
    /// without permission, or reaches an impossible cell.
    unsigned access(const Access& access);

    /// The state of a line in a core or group cache; the invalid one when it is not there.
    std::string state(unsigned agent, Line line);
    std::string home_state_of(Line line) { return home_state(line); }
    virtual L1View l1i(unsigned core, Line line) = 0;
    virtual L1View l1d(unsigned core, Line line) = 0;
    const Counts& counts() const { return counts_; }
    Machine const& machine() const { return machine_; }

protected:
    /// moved_and_upgrade: the group cache gave up a block that lacked the permission to store.
    enum class Service { l2, memory, cache, upgrade, llc, moved, moved_and_upgrade };

    Hierarchy(const Machine& machine, const Table& table);

    /// True when the L1 alone serves the access: it is counted nowhere and stalls nobody.
    virtual bool l1_serves(unsigned core, const Access& access) = 0;
    virtual bool l1_has(unsigned core, const Access& access) = 0;
    /// Everything beyond the L1; at the end the line is in the L1, most recent.
    virtual Service beyond_l1(unsigned core, const Access& access) = 0;
    /// The core's block, wherever it is; null when it has none.
    virtual Block* held(unsigned core, Line line) = 0;
    /// The core's caches forget the line.
    virtual void drop(unsigned core, Line line) = 0;
    /// The block's state has changed at another core's request.
    virtual void state_changed(unsigned core, const Block& block) = 0;
    /// The number that the L1 gives to the access that has just been served, and where a store puts its own.
    virtual std::uint64_t& l1_value(unsigned core, const Access& access) = 0;

    /// The core's own event finds the block in its caches.
    Service found(unsigned core, const Access& access, Block& block);
    /// The core's own event finds no block; the new one is to be filled in.
    std::pair<Service, Block> missed(unsigned core, const Access& access);
    /// A block is about to move between two caches, and in none of them: the core has it all the same.
    void begin_move(unsigned core, Line line) { moving_.emplace(core, line); }
    void end_move(unsigned core, Line line) { moving_.erase({core, line}); }
    /// The block leaves the core.
    void evicted(unsigned core, const Block& block);
    bool writable(const std::string& state) const { return table_.facts.at(state).writable; }

private:
    struct Supplier {
        unsigned core = 0;
        std::string state;
        std::string gives;
        std::uint64_t value = 0;
    };
    struct Answer {
        bool shared = false;
        std::optional<Supplier> supplier;
        bool from_llc = false;
        std::string gives;        ///< of the home, if the last-level cache supplies
        std::uint64_t value = 0;  ///< that the requester gets
    };
    using Written = std::optional<std::uint64_t>;  ///< what a private cache wrote back
    enum class Cause { llc, directory };           ///< in the order of `dims.recall_cause`
    enum class LlcEvent { fill, eviction, writeback };
    enum class GroupEvent { fill, hit, eviction, writeback, invalidation, recall, supply };

    Answer ask(unsigned core, const std::string& request, const Access& access);
    const std::string& home_state(Line line) { return home_.try_emplace(line, table_.absent).first->second; }
    bool has_data(const std::string& state) const { return table_.home_facts.at(state).data; }
    bool tracked(const std::string& state) const { return table_.home_facts.at(state).copies != "none"; }
    bool others_hold(unsigned agent, Line line);
    bool anybody_holds(Line line) { return others_hold(machine_.agents(), line); }
    bool is_core(unsigned agent) const { return agent < machine_.cores; }

    // Group caches (group.cpp).
    Block* copy(unsigned agent, Line line);
    void lose(unsigned agent, Line line);
    std::optional<Block> take_from_group(unsigned core, Line line);
    void move_to_group(unsigned core, Block block);
    void leave_group(unsigned group, const Block& block);
    void count_group(GroupEvent event, unsigned process_class) {
        counts_.at(Count::group_blocks, {static_cast<unsigned>(event), process_class, 0, 0, 0}) += 1;
    }
    /// Counts what happens to the copy of a core or of a group cache.
    void count_copy(unsigned agent, Count of_core, GroupEvent of_group, const Block& block) {
        if (is_core(agent)) {
            count(of_core, agent) += 1;
        } else {
            count_group(of_group, block.process_class);
        }
    }
    void count_supply(unsigned agent, const Access& access) {
        if (is_core(agent)) {
            count(Count::interventions, agent) += 1;
        } else {
            count_group(GroupEvent::supply, access.process_class);
        }
    }

    std::pair<Service, Block> entered(unsigned core, const Access& access, Block block, Service service,
                                      unsigned source);
    void given_up(unsigned agent, const Block& block);

    // What lies behind the private caches, if the table has a [home] (home.cpp).
    const HomeCell& home_cell(const std::string& event, Line line) {
        return table_.home_cell(event, home_state(line));
    }
    void request_at_home(const HomeCell& cell, const Access& access, const Written& written, Answer& answer);
    void put_at_home(const Block& block, bool writeback, bool others);
    void enter(Line line, const std::string& next);
    void keep(Line line, const std::string& next, const Written& written);
    void track(Line line, unsigned process_class);
    void fill_llc(Line line, unsigned process_class);
    void displace(Line line, unsigned process_class);
    Written recall(Line line, Cause cause, unsigned process_class);
    void count_after_recall(unsigned core, const Access& access);
    void settle();
    void count_llc(LlcEvent event, unsigned process_class) {
        counts_.at(Count::llc_blocks, {static_cast<unsigned>(event), process_class, 0, 0, 0}) += 1;
    }
    bool counts_as_e(const std::string& state) const { return table_.facts.at(state).counts_as == "E"; }
    void check_single_writer(Line line);
    std::uint64_t& count(Count which, unsigned core) { return counts_.at(which, {core, 0, 0, 0, 0}); }
    /// What became of blocks in E, by the class that brought them in.
    std::uint64_t& e_count(Count which, unsigned core, const Block& block) {
        return counts_.at(which, {core, block.process_class, 0, 0, 0});
    }
    std::uint64_t& count(Count which, unsigned core, const Access& access, unsigned last = 0);

    Machine machine_;
    const Table& table_;
    Counts counts_;
    std::map<Line, std::uint64_t> memory_;
    struct Tag {
        Line line = 0;
    };
    struct Entering {
        Line line = 0;
        unsigned process_class = 0;
    };
    std::map<Line, std::string> home_;  ///< the state of each line at home
    std::map<Line, std::uint64_t> llc_values_;
    std::optional<RecencySets<Tag>> llc_, directory_;
    std::set<Line> untracked_;  ///< no core holds them any more, since this access
    std::vector<RecencySets<Block>> groups_;
    std::set<std::pair<unsigned, Line>> moving_;
    std::vector<Entering> entering_;  ///< put into the last-level cache during this access
    std::map<Cause, std::set<std::pair<unsigned, Line>>> recalled_;  ///< lost, and not asked for since
    std::map<Line, std::uint64_t> last_stored_;
    std::uint64_t stores_ = 0;
};

}  // namespace s80::reference
