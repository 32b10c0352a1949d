// SPDX-License-Identifier: GPL-2.0-or-later
// Order inversions: where the player plays two accesses against the order in which the guest made them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/hierarchy.h"
#include "model/player.h"

namespace s80::model {

/// Two accesses to a line by two processors conflict when one of them is a store. An access is inverted when
/// a conflicting one of the same window has been played before it, but was made in a later turn. What matters
/// of that are the inverted ones that cross the bus between caches: the misses that another cache services,
/// and the upgrades. Needs streams with their turns, so no filtered capture.
class Inversions final : public Observer {
public:
    /// Counts the measured region, or all up to the end of a run without one, and then writes them to the
    /// file `path`. Both must outlive this.
    Inversions(Hierarchy& hierarchy, std::string path);

    void event(unsigned processor, const Event& event, std::int64_t clock) override;
    /// Throws Error when the file cannot be written.
    void end(const Window& window) override;

private:
    /// A turn, and whose it was.
    struct Turn {
        std::uint32_t number = 0;
        std::uint32_t processor = kMaxCores;  ///< kMaxCores: nobody's
    };
    /// The latest turns of two different processors: enough to ask what any other processor did last.
    struct Latest {
        std::array<Turn, 2> turns;
        void add(Turn turn);
        /// The latest turn of a processor other than this one.
        Turn other(unsigned processor) const;
    };
    /// What was played of a line in this window.
    struct Seen {
        Line line = kNoLine;
        std::uint32_t window = 0;
        Latest stores;
        Latest accesses;
    };
    /// Transfers between caches so far: misses that another cache serviced, and upgrades.
    struct Transfers {
        std::uint64_t cache = 0;
        std::uint64_t upgrade = 0;
    };
    struct Counts {
        std::uint64_t accesses = 0;
        std::uint64_t conflicting = 0;
        std::uint64_t inverted = 0;
        Transfers transfers;           ///< of all
        Transfers inverted_transfers;  ///< of the inverted accesses
        std::array<std::array<Transfers, kKinds>, kPrivileges> by{};
    };

    Seen& seen(Line line);
    void grow();
    Transfers transfers(unsigned core, Context context, Kind kind) const;
    Transfers all_transfers() const;
    void settle();
    void write() const;

    Hierarchy& hierarchy_;
    std::string path_;
    std::vector<Seen> table_;  ///< open addressing; entries of earlier windows are free
    std::size_t used_ = 0;
    std::uint32_t window_ = 1;
    std::vector<std::uint32_t> turn_;  ///< by processor: the one that its stream is in
    Counts counts_;
    Transfers before_;  ///< of all, when counting began
    bool written_ = false;
    /// The access that was played last, if it is inverted: what it took shows when the next one comes.
    struct Pending {
        bool is = false;
        unsigned core = 0;
        Context context;
        Kind kind = Kind::load;
        Transfers before;
    } pending_;
};

}  // namespace s80::model
