// SPDX-License-Identifier: GPL-2.0-or-later
// The caches of all cores and the bus between them: one access at a time, exact, by the protocol's table.
// hierarchy.cpp is the bus, hierarchy_inclusive.cpp and hierarchy_exclusive.cpp are the two organisations of
// a core, hierarchy_device.cpp is what devices do.
#pragma once
#include <cstdint>
#include <vector>

#include "model/cache.h"
#include "model/holders.h"
#include "model/host_memory.h"
#include "model/interconnect.h"
#include "model/machine.h"
#include "model/protocol.h"
#include "model/statistics.h"
#include "model/types.h"
#include "model/witness.h"

namespace s80::model {

class Hierarchy {
public:
    /// `lines`: lines of guest-physical address space; a line at or beyond it must not be accessed. Throws
    /// Error when the protocol cannot run on the machine.
    Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines);

    /// The moment of the accesses that follow, 1/256 cycle since the model was switched on: for the queues.
    void now(std::int64_t moment) { interconnect_.now(moment, stats_); }
    /// A window has ended: the next begins at that moment.
    void window_ended(std::int64_t next) { interconnect_.forget(next, stats_); }

    /// One access of a core. Returns the stall cycles it costs.
    unsigned access(unsigned core, Line line, Kind kind, Context context) {
        const Cache::Slot slot = cores_[core].l1(kind).find(line);
        if (satisfies(cores_[core].l1(kind), slot, kind)) {
            return 0;
        }
        return beyond_l1({line, kind, context, static_cast<std::uint8_t>(core), kAnyWay}, slot);
    }

    /// The L1s of one core, in the hands of who accesses them again and again.
    class L1s {
    public:
        /// Whether the L1 satisfies the access, which then is done; otherwise it is still to be made.
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

    /// One access of a placed window (window.h): it finds or fills that way of its L1 and no other. Throws
    /// Error when the L1 has no such way.
    unsigned access_placed(unsigned core, Line line, Kind kind, Context context, unsigned way) {
        Cache& l1 = cores_[core].l1(kind);
        if (way >= l1.ways()) [[unlikely]] {
            no_such_way(way);
        }
        const Cache::Slot slot = l1.at(line, way);
        const bool held = l1.line(slot) == line;
        if (held && (kind != Kind::store || l1.block(slot).writable)) {
            return 0;
        }
        return beyond_l1(
            {line, kind, context, static_cast<std::uint8_t>(core), static_cast<std::uint8_t>(way)},
            held ? slot : Cache::Slot{});
    }

    /// A device reads the line: who has it dirty writes it back and keeps it shared. No cache takes it in,
    /// and no processor waits.
    void device_read(Line line);
    /// A device writes the whole line to memory: no copy is left.
    void device_write(Line line);

    /// Has the host fetch what an access that comes soon and leaves the L1 will look at.
    void prefetch(unsigned core, Line line, Kind kind) const {
        const Core& mine = cores_[core];
        mine.l1(kind).prefetch(line);
        mine.l2.prefetch(line);
        holders_.prefetch(line);
    }
    /// Some time after that: what the access will look at when it goes to the bus.
    void prefetch_bus(unsigned core, Line line, Kind kind) const {
        const std::uint32_t mine = 1U << core;
        const std::uint32_t word = holders_.of(line);
        if ((word & mine) == 0 || (kind == Kind::store && word != mine)) {
            prefetch_others(core, line, word & ~mine & ~memory_bit_);
        }
    }

    /// The state of a line in a core, in whichever of its caches.
    State state(unsigned core, Line line) const;
    bool in_l1(unsigned core, Line line, bool instruction) const;
    bool in_l2(unsigned core, Line line) const;
    bool l1_writable(unsigned core, Line line) const;

    /// Cycles that a processor lost otherwise than by an access.
    void lost(unsigned core, Context context, Service service, std::uint64_t cycles) {
        stalled(core, context, Kind::ifetch, service, cycles);
    }

    const Machine& machine() const { return machine_; }
    const Protocol& protocol() const { return protocol_; }
    std::size_t lines() const { return holders_.lines(); }
    /// Who is told of requests to the bus from now on; null: nobody.
    void witness(Witness* witness) { witness_ = witness; }
    Statistics& stats() { return stats_; }
    const Statistics& stats() const { return stats_; }

    struct Core {
        Cache l1i, l1d, l2;
        Cache& l1(Kind kind) { return kind == Kind::ifetch ? l1i : l1d; }
        const Cache& l1(Kind kind) const { return kind == Kind::ifetch ? l1i : l1d; }
    };
    std::vector<Core>& cores() { return cores_; }
    Interconnect& interconnect() { return interconnect_; }

    /// The lines of which memory takes it that copies remain (leaves_shared), to be kept in a file.
    std::vector<Line> remembered() const;
    /// After the tag arrays were read from a file: the masks follow from them and from `remembered`. Throws
    /// Error when a block lies outside of the address space.
    void rebuild_holders(const std::vector<Line>& remembered);

private:
    static constexpr unsigned kAnyWay = kMaxWays;  ///< the replacement policy chooses

    /// Small enough to be handed on in one register.
    struct Access {
        Line line;
        Kind kind;
        Context context;
        std::uint8_t core;
        std::uint8_t way;  ///< of the L1, or kAnyWay
    };
    struct Snooped {
        Source source = Source::memory;
        bool shared = false;  ///< another cache keeps a copy, or memory takes it so
        bool gives = false;   ///< the supplier says which state the requester fills in
        State given = 0;
        std::uint8_t supplier = kNobody;
        std::uint32_t holders = 0;  ///< other cores that had a copy
    };
    struct Filled {
        Block block;
        unsigned stall;
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
    void prefetch_others(unsigned core, Line line, std::uint32_t others) const;
    [[noreturn]] void no_such_way(unsigned way) const;
    unsigned beyond_l1(Access a, Cache::Slot slot);
    // One core's organisation
    unsigned inclusive(Access a);
    Cache::Slot make_room(unsigned core, Line line);
    void fill_l1(Access a, Block& block);
    void drop_from_l1s(unsigned core, Line line, Block block);
    unsigned exclusive(Access a, Cache::Slot slot);
    void move_to_l2(unsigned core, const Cache& from, Cache::Slot slot);
    // The protocol's own side
    static constexpr unsigned quiet_bit(Kind kind, State state) {
        return static_cast<unsigned>(kind) * kMaxStates + state;
    }
    /// The core holds the line: what its access does to the block. Returns the stall cycles.
    unsigned hit(Access a, Block& block) {
        if ((quiet_ >> quiet_bit(a.kind, block.state) & 1) != 0) [[likely]] {
            stalled(a, Service::l2, machine_.latency.l2_hit);
            return machine_.latency.l2_hit;
        }
        return hit_with_effect(a, block);
    }
    unsigned hit_with_effect(Access a, Block& block);
    void stalled(Access a, Service service, unsigned cycles) {
        stalled(a.core, a.context, a.kind, service, cycles);
    }
    void stalled(unsigned core, Context context, Kind kind, Service service, std::uint64_t cycles) {
        stats_.stall(core, context, kind, service) += cycles;
        stats_.entry_stall(context, service) += cycles;
    }
    Filled miss(Access a);
    void evict(unsigned core, Line line, Block& block);
    // The bus
    Snooped snoop(unsigned core, Line line, Bus bus);
    void invalidate(unsigned core, Line line, Held held);
    Held held(unsigned core, Line line) const;
    void change(Block& block, State next) const;
    void protect_l1d(unsigned core, Line line, const Block& block) const;
    void leave_e(unsigned core, Block& block, Stat why);

    Machine machine_;
    Protocol protocol_;
    bool exclusive_;
    std::uint32_t quiet_ = 0;   ///< accesses that leave a block as it is: a bit a kind and state
    std::uint32_t memory_bit_;  ///< of a holder mask, if the protocol has memory remember sharing
    HostMemory memory_;         ///< of all caches
    std::vector<Core> cores_;
    Holders holders_;
    Statistics stats_;
    Interconnect interconnect_;
    Witness* witness_ = nullptr;
};

}  // namespace s80::model
