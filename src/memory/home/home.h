// SPDX-License-Identifier: GPL-2.0-or-later
// The home: the place where the requests for a line are ordered. The home finds the supplier of data, updates
// the copies of other cores, and keeps what lies behind the private caches: the bus and memory, or a shared
// cache, or a directory.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coherence/outcome.h"
#include "coherence/protocol.h"
#include "machine/machine.h"
#include "machine/topology.h"
#include "memory/access.h"
#include "memory/home/sharers.h"
#include "memory/private/private.h"
#include "stats/statistics.h"

namespace s80::model {

/// The home's answer to a request, from which the requester's block gets its state.
struct Reply {
    bool shared = false;  ///< another cache keeps a copy, or the home assumes so
    bool gives = false;   ///< the requester fills in the state `given`, not in the state of its own cell
    State given = 0;
    /// The group cache gave its block up, in the state `given`, and no other cache saw the request.
    bool moved = false;
    /// The destructor makes the structure not trivial, so that functions return it in memory. To pack it into
    /// registers takes longer.
    ~Reply() {}
};

/// What a home works with. All parts outlive the home.
struct HomeParts {
    const Machine& machine;
    const Protocol& protocol;
    const Topology& topology;
    Statistics& stats;
    PrivateCaches& caches;
    std::vector<CoreCaches>& cores;  ///< the caches of each agent
    Sharers& sharers;
};

/// The private caches and devices call it, one request at a time, in the order in which the timing merger
/// plays. The home keeps the index of sharers up to date: after request() the requester is in it; after
/// evicted() the core is not.
class Home {
public:
    explicit Home(const HomeParts& parts) : parts_(parts) {}
    virtual ~Home() = default;

    /// The time of the following calls, in 1/256 cycle since the model was switched on.
    void now(std::int64_t moment) {
        now_ = moment;
        moved_on_ = true;
    }

    /// A core asks for a line, or for the permission to store to its copy. The home snoops the other sharers,
    /// and fills in the outcome.
    /// It may recall any line but the requested one from any core.
    virtual Reply request(const Access& access, Bus bus, Outcome& outcome) = 0;
    /// A core or group cache has evicted its last copy of the line because it needed room.
    virtual void evicted(unsigned core, Line line, Block block) = 0;
    /// A device reads or writes the whole line, and keeps no copy. No processor waits.
    virtual void device_read(Line line) = 0;
    virtual void device_write(Line line) = 0;
    /// Whether `settle` and `host_prefetch` do something.
    virtual bool follows_up() const { return false; }
    /// The access is over: all its blocks are in caches. The home may recall any line.
    virtual void settle() {}
    /// An epoch has ended. No later call has a time before `next`.
    virtual void epoch_ended(std::int64_t next) = 0;

    /// The home state of the line; nothing if the home does not play the table [home] of a protocol.
    virtual std::optional<HomeState> home_state(Line) const { return {}; }
    /// Host prefetch of what a request for the line needs, beside the index of sharers. evicted: the line
    /// that will leave the requester, or kNoLine.
    virtual void host_prefetch(Line, [[maybe_unused]] Line evicted) const {}

    /// Lines for which the home assumes sharers although it may be that no cache holds them.
    virtual std::vector<Line> remembered() const { return {}; }
    virtual void remember(Line) {}
    /// All other state of the home between two epochs, as 64-bit words for a checkpoint.
    virtual std::vector<std::uint64_t> state() const { return {}; }
    /// Restores what state() returned. Returns false if the words are not consistent.
    [[nodiscard]] virtual bool set_state(std::span<const std::uint64_t> words) { return words.empty(); }

protected:
    /// A core misses on a line: counts the miss if a recall caused it.
    void count_after_recall(const Access&, Outcome&) {}

    /// Passes the request to all other sharers, which change their copies. Fills in the outcome, except place
    /// and stall. If several sharers could supply, the one whose state stands first in the table does; among
    /// equal states, the one with the lowest number (cores come before group caches). `written_back()` is
    /// called for each copy whose data leave the core. may_supply: false if the home supplies, whatever the
    /// copies would do.
    template <class Fn>
    Reply snoop(const Access& access, Bus bus, Outcome& outcome, Fn&& written_back, bool may_supply = true) {
        Reply reply;
        outcome.request = bus;
        outcome.had_copies = parts_.sharers.cores(access.line).without(access.core);
        unsigned best = kMaxStates;
        for (const unsigned other : outcome.had_copies) {
            const Snooped copy = parts_.caches.snoop(other, access.line, bus);
            if (may_supply && copy.supplies && copy.state < best) {
                best = copy.state;
                outcome.supplier = static_cast<CoreNumber>(other);
            }
            if (copy.writes_back) {
                written_back();
            }
            if (copy.keeps) {
                reply.shared = true;
            } else {
                parts_.sharers.remove(access.line, other);
                ++parts_.stats.group(Stat::invalidations_sent, access.core, access.context);
            }
        }
        if (best != kMaxStates) {
            supplied(reply, outcome, bus, static_cast<State>(best));
        }
        return reply;
    }

    HomeParts parts_;
    std::int64_t now_ = 0;
    bool moved_on_ = false;  ///< now() has set a time that the home has not used yet

private:
    void supplied(Reply& reply, Outcome& outcome, Bus bus, State state) const;
};

/// The keys of the machine file's table [home]: `home.kind`, which chooses the home, then the keys that each
/// kind of home adds (its `kKeys`).
std::vector<Key> home_keys();

/// The home that the machine file names (`home.kind`); else the bus if it does all that machine and protocol
/// need, or the directory. Throws Error if it cannot be built.
std::unique_ptr<Home> make_home(const HomeParts& parts);

}  // namespace s80::model
