// SPDX-License-Identifier: GPL-2.0-or-later
// The memory hierarchy: the L1s, and what lies beyond them. Plays one access at a time, exactly, by the table
// of the protocol. The private caches (private/private.h), the home (home/home.h) and the prefetcher
// (prefetch/prefetcher.h) are chosen once, when the machine is built. Accesses that an L1 satisfies make no
// virtual call.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/host_memory.h"
#include "base/types.h"
#include "coherence/outcome.h"
#include "coherence/protocol.h"
#include "machine/machine.h"
#include "machine/topology.h"
#include "memory/access.h"
#include "memory/cache_view.h"
#include "memory/core_caches.h"
#include "memory/home/home.h"
#include "memory/home/sharers.h"
#include "memory/prefetch/prefetcher.h"
#include "memory/private/private.h"
#include "stats/statistics.h"

namespace s80::model {

/// Spare cores: cores beyond those of the machine, with direct-mapped caches of a few sets. Only traces that
/// rebuild a warm state use them (warm/plan.h).
struct Spares {
    unsigned cores = 0;
    unsigned sets = 2;  ///< of each cache; a power of two
};

class Hierarchy {
public:
    /// `lines`: lines of guest-physical address space; accesses must stay below it. The spare cores have the
    /// numbers after the machine's cores. Throws Error if the protocol cannot run on the machine.
    Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines, Spares spares = {});
    Hierarchy(const Hierarchy&) = delete;
    Hierarchy& operator=(const Hierarchy&) = delete;

    /// Sets the time of the following accesses, in 1/256 cycle since the model was switched on.
    void now(std::int64_t moment) { home_->now(moment); }
    /// An epoch has ended. The next one begins at that time.
    void epoch_ended(std::int64_t next) { home_->epoch_ended(next); }

    /// Performs one access of a core.
    Outcome access(unsigned core, Line line, Kind kind, Context context) {
        const Cache::Slot slot = cores_[core].l1(kind).find(line);
        return satisfies(cores_[core].l1(kind), slot, kind)
                   ? Outcome()
                   : access_unsatisfied(core, line, kind, context, slot);
    }
    /// Performs an access that the L1 did not satisfy. `slot`: the L1's slot if it holds the line (a store
    /// without permission); otherwise it converts to false.
    [[gnu::always_inline]] Outcome access_unsatisfied(unsigned core, Line line, Kind kind, Context context,
                                                      Cache::Slot slot) {
        Outcome outcome;
        beyond_l1_(*this, {line, kind, context, static_cast<std::uint8_t>(core), kAnyWay}, slot, outcome);
        return outcome;
    }

    /// Direct access to the L1s of one core, for code that accesses them repeatedly.
    class L1s {
    public:
        /// Performs the access if the L1 can satisfy it. Otherwise returns false, and the caller must call
        /// `access_unsatisfied` with the slot.
        bool satisfy(Line line, Kind kind, Cache::Slot& slot) const {
            const Cache& l1 = cache(kind);
            slot = l1.find(line);
            return satisfies(l1, slot, kind);
        }

    private:
        friend class Hierarchy;
        L1s(const Cache& l1i, const Cache& l1d) : l1_{l1i, l1d} {}
        const Cache& cache(Kind kind) const { return l1_[kind == Kind::ifetch ? 0 : 1]; }
        Cache l1_[2];
    };
    L1s l1s(unsigned core) const { return {cores_[core].l1i, cores_[core].l1d}; }

    /// Performs an access of an L1-filtered epoch (Epoch::placed). The line is in this way of the L1, or
    /// enters it. Throws Error if the L1 has no such way.
    Outcome access_placed(unsigned core, Line line, Kind kind, Context context, unsigned way) {
        Cache& l1 = cores_[core].l1(kind);
        if (way >= l1.ways()) [[unlikely]] {
            no_such_way(way);
        }
        Outcome outcome;
        const Cache::Slot slot = l1.slot(line, way);
        const bool held = l1.line(slot) == line;
        if (!held || (kind == Kind::store && !l1.block(slot).writable)) {
            beyond_l1_(*this,
                       {line, kind, context, static_cast<std::uint8_t>(core), static_cast<std::uint8_t>(way)},
                       held ? slot : Cache::Slot{}, outcome);
        }
        return outcome;
    }

    /// A device reads the line. A core that has it dirty writes it back and keeps it shared. No cache is
    /// filled, and no processor waits.
    void device_read(Line line) { home_->device_read(line); }
    /// A device writes the whole line to memory. All cached copies are invalidated.
    void device_write(Line line) { home_->device_write(line); }

    /// Host prefetch of the data that an access which leaves the L1 will need soon.
    void host_prefetch(unsigned core, Line line, Kind kind) const {
        const CoreCaches& mine = cores_[core];
        mine.l1(kind).host_prefetch(line);
        mine.l2.host_prefetch(line);
        sharers_.host_prefetch(line);
    }
    /// Host prefetch, some time later, of the data that the home will need for the access.
    void host_prefetch_bus(unsigned core, Line line, Kind kind) const {
        const CoreSet sharers = sharers_.cores(line);
        if (!sharers.has(core) || (kind == Kind::store && sharers != CoreSet::only(core))) {
            host_prefetch_others(core, line, sharers.without(core));
        }
    }

    /// The contents of all caches.
    CacheView caches() const { return {cores_, protocol_, sharers_}; }

    /// Counts cycles for which a processor waited for something else than the data of an access.
    void delayed(unsigned core, Context context, Delay delay, std::uint64_t cycles) {
        stats_.stalled(core, context, Kind::ifetch, service(delay), cycles);
    }

    const Machine& machine() const { return machine_; }
    const Protocol& protocol() const { return protocol_; }
    std::size_t lines() const { return sharers_.lines(); }
    /// Sets the listener of further accesses; null: none.
    void listen(MoveListener* listener) { private_->listen(listener); }
    /// Multiplies the latencies of a core.
    void slow_down(unsigned core, unsigned factor) { topology_.slow_down(core, factor); }
    /// Lines that the caches of one core have room for.
    std::size_t lines_per_core() const { return private_->capacity(machine_); }
    Statistics& stats() { return stats_; }
    const Statistics& stats() const { return stats_; }

    // --- the state between two epochs, for a checkpoint; each part saves and restores its own section ---
    /// Calls `item(bytes)` with the contents of each cache, core by core. Restored before the other sections.
    template <class Fn>
    void each_contents(Fn&& item) const {
        for (const CoreCaches& core : cores_) {
            for (const Cache* cache : {&core.l1i, &core.l1d, &core.l2}) {
                item(cache->contents());
            }
        }
    }
    /// The lines for which the home assumes that caches have copies, although perhaps none has.
    std::vector<Line> remembered() const { return home_->remembered(); }
    /// The other state of the caches, of the prefetcher and of the home, as words.
    std::vector<std::uint64_t> state() const;
    /// Restores what state() returned. Throws Error if the number of words is wrong.
    void set_state(std::span<const std::uint64_t> words);
    /// Call it after the contents of the caches have been restored: recomputes the index of sharers from
    /// them, and gives the home its remembered() lines. Throws Error if a line is outside of memory.
    void rebuild_sharers(const std::vector<Line>& remembered);
    const Home& home() const { return *home_; }
    Home& home() { return *home_; }

private:
    static bool satisfies(const Cache& l1, Cache::Slot slot, Kind kind) {
        if (!slot) [[unlikely]] {
            return false;
        }
        l1.touch(slot);
        return kind != Kind::store || l1.block(slot).writable;
    }
    void host_prefetch_others(unsigned core, Line line, CoreSet others) const;
    [[noreturn]] void no_such_way(unsigned way) const;
    /// Performs an access beyond the L1. `slot`: of the L1 if a store only lacks permission there; otherwise
    /// it converts to false. There is one function for each organisation of private caches, with the
    /// organisation's code inlined: in a replay of an L1-filtered capture, nearly every event comes here.
    using BeyondL1 = void (*)(Hierarchy& self, const Access& a, Cache::Slot slot, Outcome& outcome);
    template <class Caches>
    static void beyond_l1(Hierarchy& self, const Access& a, Cache::Slot slot, Outcome& outcome);
    /// Called after an access beyond the L1, on machines with a prefetcher, a last-level cache or a
    /// directory.
    void follow_up(const Access& a, const Outcome& outcome);
    void prefetch(const Access& a, const Outcome& outcome);
    Machine machine_;
    Protocol protocol_;
    Topology topology_;
    HostMemory memory_;              ///< of all caches
    std::vector<CoreCaches> cores_;  ///< by agent
    Sharers sharers_;
    Statistics stats_;
    std::unique_ptr<PrivateCaches> private_;
    BeyondL1 beyond_l1_;
    std::unique_ptr<Home> home_;
    std::unique_ptr<Prefetcher> prefetcher_;  ///< null: none
    bool follows_up_;
    std::vector<Line> prefetched_;
};

}  // namespace s80::model
