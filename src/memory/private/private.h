// SPDX-License-Identifier: GPL-2.0-or-later
// The private caches of all cores: an L1I, an L1D and an L2 each. The organisation decides where a core keeps
// a line; the protocol's table decides the states.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/outcome.h"
#include "coherence/protocol.h"
#include "machine/machine.h"
#include "machine/topology.h"
#include "memory/access.h"
#include "memory/core_caches.h"
#include "stats/statistics.h"

namespace s80::model {

class Home;

/// Gets a report of each line that an access moves or evicts, except the accessed line, and of what the home
/// does.
class MoveListener {
public:
    virtual ~MoveListener() = default;
    /// The core's copy of the line is about to leave a cache, for another cache of the core, for the group
    /// cache or for good. The core may be a group cache that loses the line for good.
    virtual void leaving(unsigned core, Line line) = 0;
    /// The block is about to move between a core and its group cache.
    virtual void moving([[maybe_unused]] unsigned from, [[maybe_unused]] unsigned to, Line) {}
    /// The home is about to recall the core's copy of the line.
    virtual void recalling(unsigned, Line) {}
    /// The home has played a cell of the protocol's [home], after the recalls of that cell. The arguments are
    /// the event, the line, the core that made the request or gave up its copy (kNobody: none), and the home
    /// states before and after.
    virtual void at_home(HomeEvent, Line, CoreNumber, HomeState, HomeState) {}
};

/// How a core's copy answered a request of another core.
struct Snooped {
    State state = 0;  ///< before
    bool keeps = false;
    bool supplies = false;
    bool writes_back = false;
    /// The destructor makes the structure not trivial, so that functions return it in memory. To pack it into
    /// registers takes longer.
    ~Snooped() {}
};

/// What private caches work with. All parts outlive them. cores: the caches of each agent; a group cache has
/// an L2 alone.
struct PrivateParts {
    const Protocol& protocol;
    const Topology& topology;
    Statistics& stats;
    std::vector<CoreCaches>& cores;
};

/// If several caches of a core hold a line, the block in the L2 has the state. The blocks in the L1s have
/// only the permission to store. Each organisation must keep this rule.
class PrivateCaches {
public:
    explicit PrivateCaches(const PrivateParts& parts);
    virtual ~PrivateCaches() = default;

    /// Called for each access that the core's L1 does not satisfy. `l1`: the L1's slot if the L1 holds the
    /// line, and a store lacks permission. At the end the line is in the L1, in way `access.way` if that is
    /// not kAnyWay. The organisation asks the home for what the core lacks, and gives up victims to the home.
    virtual void access(const Access& access, Cache::Slot l1, Home& home, Outcome& outcome) = 0;
    /// Host prefetch of the sets that a request of another core will search.
    virtual void host_prefetch_snoop(CoreSet cores, Line line) const = 0;
    /// Lines that one core's caches have room for.
    virtual std::size_t capacity(const Machine& machine) const = 0;

    /// Brings a line that the core does not hold into its L2, as for a load. No processor waits.
    void prefetch(const Access& access, Home& home);

    /// The core or group cache evicts the line, whose state `block` has. The caller then removes it from the
    /// cache.
    void evict(unsigned core, Line line, Block& block, Home& home);

    // --- called by the home, for a line that the core or group cache holds ---
    /// Applies the request of another core to the copy: the copy changes its state or leaves the core.
    Snooped snoop(unsigned core, Line line, Bus bus);
    /// Removes the copy, because a device writes the line, or because a home without a [home] recalls it.
    /// Returns whether its data were newer than memory's.
    bool invalidate(unsigned core, Line line);
    /// Removes the copy, because the home needs room, by the protocol's row [remote.recall]. Returns whether
    /// its data leave the core.
    bool recall(unsigned core, Line line, RecallCause cause);
    /// A device reads the line. A copy with newer data than memory's is written back and stays, shared.
    void clean(unsigned core, Line line);

    /// Sets the listener of further accesses; null: none.
    void listen(MoveListener* listener) { listener_ = listener; }
    MoveListener* listener() const { return listener_; }

protected:
    CoreCaches& caches(unsigned core) { return parts_.cores[core]; }
    const CoreCaches& caches(unsigned core) const { return parts_.cores[core]; }

    /// The core holds the line: applies the access to the block that has its state.
    void hit(const Access& a, Block& block, Home& home, Outcome& outcome) {
        if ((quiet_ >> quiet_bit(a.kind, block.state) & 1) != 0) [[likely]] {
            outcome.stall = parts_.topology.l2_hit(a.core);
            outcome.place = Place::l2;
            parts_.stats.stalled(a.core, a.context, a.kind, kL2Hit.service, outcome.stall);
        } else {
            hit_with_effect(a, block, home, outcome);
        }
    }
    /// The core does not hold the line: requests it, and returns the block that the caller puts into a cache.
    Block miss(const Access& a, Home& home, Outcome& outcome) {
        const Block block = fill(a, home, outcome);
        count_miss(a, outcome);
        return block;
    }
    /// Returns an L2 slot for the line. Its old block has been evicted, with the copies in the L1s.
    Cache::Slot make_room(unsigned core, Line line, Home& home);
    /// Takes the copies of a block in the L2 out of the L1s.
    void drop_from_l1s(unsigned core, Line line, Block block) const;
    /// A line is about to leave a cache.
    void leaves(unsigned core, Line line) {
        if (listener_ != nullptr) [[unlikely]] {
            listener_->leaving(core, line);
        }
    }
    /// The same for the line in the slot, if there is one.
    void leaves(unsigned core, const Cache& cache, Cache::Slot slot) {
        if (listener_ != nullptr && cache.line(slot) != kNoLine) [[unlikely]] {
            listener_->leaving(core, cache.line(slot));
        }
    }

private:
    struct Held {
        const Cache* cache;
        Cache::Slot slot;
    };

    /// A constant, because most accesses beyond the L1 are such hits.
    static constexpr Labels kL2Hit = labels({.place = Place::l2});

    static constexpr unsigned quiet_bit(Kind kind, State state) {
        return static_cast<unsigned>(kind) * kMaxStates + state;
    }
    [[noreturn]] void impossible(const char* side, State state, unsigned core, Line line) const;
    Block fill(const Access& a, Home& home, Outcome& outcome);
    void count_miss(const Access& a, const Outcome& outcome);
    void apply(const Access& a, Block& block, Home& home, Outcome& outcome);
    void hit_with_effect(const Access& a, Block& block, Home& home, Outcome& outcome);
    Held held(unsigned core, Line line) const;
    void drop(unsigned core, Line line, Held copy);
    void count_writeback(unsigned core, const Block& block) const;
    void change(Block& block, State next) const;
    /// After a change of a block in the L2 for another core or a device: its copy in the L1D may be stored to
    /// no longer than it.
    virtual void downgraded(unsigned core, Line line, const Block& block) const;
    void leave_e(unsigned core, Block& block, Stat why);

    PrivateParts parts_;
    std::uint32_t quiet_ = 0;  ///< accesses that leave a block unchanged: one bit per kind and state
    MoveListener* listener_ = nullptr;
};

/// The organisation that the machine file names (`l2.inclusion`). Throws Error if it does not exist.
std::unique_ptr<PrivateCaches> make_private_caches(const Machine& machine, const PrivateParts& parts);
/// The number of the organisation in state files.
unsigned organisation_number(const Machine& machine);

}  // namespace s80::model
