// SPDX-License-Identifier: GPL-2.0-or-later
// The caches of all cores and the bus between them. Plays one access at a time, exactly, by the table of the
// protocol. hierarchy.cpp is the bus, hierarchy_inclusive.cpp and hierarchy_exclusive.cpp are the two
// organisations of a core, and hierarchy_device.cpp handles accesses by devices.
#pragma once
#include <cstdint>
#include <vector>

#include "base/core_set.h"
#include "base/host_memory.h"
#include "base/types.h"
#include "coherence/outcome.h"
#include "coherence/protocol.h"
#include "machine/machine.h"
#include "memory/cache_view.h"
#include "memory/core_caches.h"
#include "memory/holders.h"
#include "memory/interconnect.h"
#include "stats/statistics.h"

namespace s80::model {

/// Cores beyond those of the machine, with direct-mapped caches of a few sets (`src/warm/plan.h`).
struct Spares {
    unsigned cores = 0;
    unsigned sets = 2;  ///< of each cache; a power of two
};

/// Learns which other lines of a core an access moves or evicts.
class MoveListener {
public:
    virtual ~MoveListener() = default;
    /// The core's copy of the line is about to leave a cache, for another cache of the core or for good.
    virtual void leaving(unsigned core, Line line) = 0;
};

class Hierarchy {
public:
    /// `lines`: lines of guest-physical address space; accesses must stay below it. The spare cores have the
    /// numbers after the machine's cores. Throws Error if the protocol cannot run on the machine.
    Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines, Spares spares = {});

    /// Sets the time of the following accesses, in 1/256 cycle since the model was switched on. The queues
    /// use it.
    void now(std::int64_t moment) { interconnect_.now(moment, stats_); }
    /// An epoch (`Window`) has ended. The next one begins at that time.
    void window_ended(std::int64_t next) { interconnect_.forget(next, stats_); }

    /// Performs one access of a core.
    Outcome access(unsigned core, Line line, Kind kind, Context context) {
        const Cache::Slot slot = cores_[core].l1(kind).find(line);
        if (satisfies(cores_[core].l1(kind), slot, kind)) {
            return {};
        }
        return beyond_l1({line, kind, context, static_cast<std::uint8_t>(core), kAnyWay}, slot);
    }

    /// Direct access to the L1s of one core, for code that accesses them repeatedly.
    class L1s {
    public:
        /// Performs the access if the L1 can satisfy it. Otherwise returns false, and the caller must make
        /// the access.
        bool satisfy(Line line, Kind kind) const {
            const Cache& l1 = of(kind);
            return satisfies(l1, l1.find(line), kind);
        }

    private:
        friend class Hierarchy;
        L1s(const Cache& l1i, const Cache& l1d) : l1_{l1i, l1d} {}
        const Cache& of(Kind kind) const { return l1_[kind == Kind::ifetch ? 0 : 1]; }
        Cache l1_[2];
    };
    L1s l1s(unsigned core) const { return {cores_[core].l1i, cores_[core].l1d}; }

    /// One access of an L1-filtered epoch (`placed`, window.h). It finds or fills the given way of its L1.
    /// Throws Error if the L1 has no such way.
    Outcome access_placed(unsigned core, Line line, Kind kind, Context context, unsigned way) {
        Cache& l1 = cores_[core].l1(kind);
        if (way >= l1.ways()) [[unlikely]] {
            no_such_way(way);
        }
        const Cache::Slot slot = l1.at(line, way);
        const bool held = l1.line(slot) == line;
        if (held && (kind != Kind::store || l1.block(slot).writable)) {
            return {};
        }
        return beyond_l1(
            {line, kind, context, static_cast<std::uint8_t>(core), static_cast<std::uint8_t>(way)},
            held ? slot : Cache::Slot{});
    }

    /// A device reads the line. A core that has it dirty writes it back and keeps it shared. No cache is
    /// filled, and no processor waits.
    void device_read(Line line);
    /// A device writes the whole line to memory. All cached copies are invalidated.
    void device_write(Line line);

    /// Host prefetch of the data that an access which leaves the L1 will need soon.
    void prefetch(unsigned core, Line line, Kind kind) const {
        const CoreCaches& mine = cores_[core];
        mine.l1(kind).prefetch(line);
        mine.l2.prefetch(line);
        holders_.prefetch(line);
    }
    /// Host prefetch, some time later, of the data that the access will need on the bus.
    void prefetch_bus(unsigned core, Line line, Kind kind) const {
        const CoreSet holders = holders_.of(line);
        if (!holders.has(core) || (kind == Kind::store && holders != CoreSet::only(core))) {
            prefetch_others(core, line, cores_among(holders).without(core));
        }
    }

    /// The contents of all caches.
    CacheView caches() const { return {cores_, protocol_, holders_}; }

    /// Counts cycles that a processor lost for a reason other than an access.
    void lost(unsigned core, Context context, Service service, std::uint64_t cycles) {
        stalled(core, context, Kind::ifetch, service, cycles);
    }

    const Machine& machine() const { return machine_; }
    const Protocol& protocol() const { return protocol_; }
    std::size_t lines() const { return holders_.lines(); }
    /// Sets the listener of further accesses; null: none.
    void listen(MoveListener* listener) { listener_ = listener; }
    /// Multiplies the latencies of a core.
    void slow_down(unsigned core, unsigned factor) { latency_[core] *= factor; }
    Statistics& stats() { return stats_; }
    const Statistics& stats() const { return stats_; }

    /// Calls `item(cache)` with each cache, core by core. For code that restores their contents from a file.
    template <class Fn>
    void each_cache(Fn&& item) {
        for (CoreCaches& core : cores_) {
            for (Cache* cache : {&core.l1i, &core.l1d, &core.l2}) {
                item(*cache);
            }
        }
    }
    Interconnect& interconnect() { return interconnect_; }

    /// Lines for which memory keeps assuming that sharers remain (leaves_shared), for a file.
    std::vector<Line> remembered() const;
    /// Recomputes the sharing vectors (`Holders`) from the tag arrays and from `remembered`, after the tag
    /// arrays were read from a file. Throws Error if a block lies outside of the address space.
    void rebuild_holders(const std::vector<Line>& remembered);

private:
    static constexpr unsigned kAnyWay = kMaxWays;  ///< the replacement policy chooses

    /// Small enough to be passed in one register.
    struct Access {
        Line line;
        Kind kind;
        Context context;
        std::uint8_t core;
        std::uint8_t way;  ///< of the L1, or kAnyWay
    };
    struct Snooped {
        StateClass state = StateClass::none;  ///< of the supplier
        bool shared = false;                  ///< another cache keeps a copy, or memory assumes so
        bool gives = false;  ///< the supplier determines the state in which the requester fills
        State given = 0;
        std::uint8_t supplier = kNobody;
        CoreSet holders;  ///< sharers: other cores that had a copy
    };
    struct Filled {
        Block block;
        Outcome outcome;
    };
    struct Held {
        const Cache* cache;
        Cache::Slot slot;
    };

    static bool satisfies(const Cache& l1, Cache::Slot slot, Kind kind) {
        if (!slot) [[unlikely]] {
            return false;
        }
        l1.touch(slot);
        return kind != Kind::store || l1.block(slot).writable;
    }
    void prefetch_others(unsigned core, Line line, CoreSet others) const;
    CoreSet cores_among(CoreSet holders) const { return holders - memory_number_; }
    bool memory_among(CoreSet holders) const { return !(holders & memory_number_).empty(); }
    [[noreturn]] void no_such_way(unsigned way) const;
    Outcome beyond_l1(Access a, Cache::Slot slot);
    // One core's organisation
    Outcome inclusive(Access a);
    Cache::Slot make_room(unsigned core, Line line);
    void fill_l1(Access a, Block& block);
    void drop_from_l1s(unsigned core, Line line, Block block);
    Outcome exclusive(Access a, Cache::Slot slot);
    void move_to_l2(unsigned core, const Cache& from, Cache::Slot slot);
    // The protocol's own side
    static constexpr unsigned quiet_bit(Kind kind, State state) {
        return static_cast<unsigned>(kind) * kMaxStates + state;
    }
    /// The core holds the line: applies the access to the block.
    Outcome hit(Access a, Block& block) {
        if ((quiet_ >> quiet_bit(a.kind, block.state) & 1) != 0) [[likely]] {
            return {latency_[a.core].l2_hit, Place::l2};
        }
        return hit_with_effect(a, block);
    }
    Outcome hit_with_effect(Access a, Block& block);
    void leaves(unsigned core, Line line) {
        if (listener_ != nullptr) [[unlikely]] {
            listener_->leaving(core, line);
        }
    }
    void stalled(unsigned core, Context context, Kind kind, Service service, std::uint64_t cycles) {
        stats_.stall(core, context, kind, service) += cycles;
        stats_.entry_stall(context, service) += cycles;
    }
    Filled miss(Access a);
    void evict(unsigned core, Line line, Block& block);
    // The bus
    Snooped snoop(Access a, Bus bus);
    void invalidate(unsigned core, Line line, Held held);
    Held held(unsigned core, Line line) const;
    void change(Block& block, State next) const;
    void protect_l1d(unsigned core, Line line, const Block& block) const;
    void leave_e(unsigned core, Block& block, Stat why);

    Machine machine_;
    Protocol protocol_;
    bool exclusive_;
    std::uint32_t quiet_ = 0;  ///< accesses that leave a block unchanged: one bit per kind and state
    CoreSet memory_number_;    ///< Holders::kMemory, if memory remembers sharers in this protocol
    HostMemory memory_;        ///< of all caches
    std::vector<CoreCaches> cores_;
    std::vector<Latency> latency_;  ///< by core
    Holders holders_;
    Statistics stats_;
    Interconnect interconnect_;
    MoveListener* listener_ = nullptr;
};

}  // namespace s80::model
