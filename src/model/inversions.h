// SPDX-License-Identifier: GPL-2.0-or-later
// Order inversions: conflicting accesses that the timing merger (`Player`) plays in another order than the
// guest executed them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/hierarchy.h"
#include "model/player.h"

namespace s80::model {

/// Two accesses of two processors to a line conflict if one of them is a store. An access is inverted if a
/// conflicting access of the same epoch (`Window`) was played before it, but belongs to a later time slice
/// (`turn`). Inverted accesses matter if they cause a transfer between caches: a miss that another cache
/// services, or an upgrade. The streams must contain their time slices, so filtered captures do not work.
class Inversions final : public Observer {
public:
    /// Counts the measured region, or the whole run if it has none, and then writes the counts to the file
    /// `path`. Both arguments must outlive this object.
    Inversions(Hierarchy& hierarchy, std::string path);

    void event(unsigned processor, const Event& event, std::int64_t clock) override;
    /// Throws Error if the file cannot be written.
    void end(const Window& window) override;

private:
    /// A time slice (`turn`) and its processor.
    struct Turn {
        std::uint32_t number = 0;
        std::uint32_t processor = kMaxCores;  ///< kMaxCores: none
    };
    /// The latest time slices of two different processors. They answer which processor other than a given one
    /// was last.
    struct Latest {
        std::array<Turn, 2> turns;
        void add(Turn turn);
        /// The latest time slice of a processor other than this one.
        Turn other(unsigned processor) const;
    };
    /// Accesses to a line that were played in this epoch.
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
        Transfers transfers;           ///< of all accesses
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
    std::vector<Seen> table_;  ///< open addressing; entries of earlier epochs count as free
    std::size_t used_ = 0;
    std::uint32_t window_ = 1;
    std::vector<std::uint32_t> turn_;  ///< by processor: the time slice that its stream has reached
    Counts counts_;
    Transfers before_;  ///< all transfers when counting began
    bool written_ = false;
    /// The last played access, if it is inverted. Its transfers are known when the next access begins.
    struct Pending {
        bool is = false;
        unsigned core = 0;
        Context context;
        Kind kind = Kind::load;
        Transfers before;
    } pending_;
};

}  // namespace s80::model
