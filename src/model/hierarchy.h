// SPDX-License-Identifier: GPL-2.0-or-later
// The caches of all cores and the bus between them: one access at a time, exact, by the protocol's table.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "model/cache.h"
#include "model/holders.h"
#include "model/machine.h"
#include "model/protocol.h"
#include "model/statistics.h"
#include "model/types.h"

namespace s80::model {

class Hierarchy {
public:
    /// `lines`: lines of guest-physical address space; a line at or beyond it must not be accessed.
    Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines);

    /// One access of a core. Returns the stall cycles it costs.
    unsigned access(unsigned core, Line line, Kind kind, Context context) {
        Cache& l1 = kind == Kind::ifetch ? cores_[core].l1i : cores_[core].l1d;
        if (Block* block = l1.find(line); block != nullptr) {
            l1.touch(block);
            if (kind != Kind::store || block->state != 0) {
                return 0;
            }
        } else {
            ++stats_.kind(Stat::l1_misses, core, context, kind);
        }
        return l2_access(core, line, kind, context);
    }

    /// Has the host fetch what an access that comes soon will look at.
    void prefetch(unsigned core, Line line, bool instruction) const {
        const Core& c = cores_[core];
        (instruction ? c.l1i : c.l1d).prefetch(line);
    }

    /// The state of a line in a core's L2.
    State state(unsigned core, Line line);
    bool in_l1(unsigned core, Line line, bool instruction);
    bool l1_writable(unsigned core, Line line);

    const Machine& machine() const { return machine_; }
    const Protocol& protocol() const { return protocol_; }
    Statistics& stats() { return stats_; }
    const Statistics& stats() const { return stats_; }

    struct Core {
        Cache l1i, l1d, l2;
    };
    std::vector<Core>& cores() { return cores_; }
    /// After the tag arrays were read from a file: the masks follow from them. Throws Error when a
    /// block lies outside of the address space.
    void rebuild_holders();

private:
    struct Snooped {
        Source source = Source::memory;
        bool shared = false;  ///< another cache keeps a copy, or memory takes it so
        bool gives = false;   ///< the supplier says which state the requester fills in
        State given = 0;
        State next(const OwnCell& cell) const {
            return gives ? given : shared ? cell.next_shared : cell.next_alone;
        }
    };
    /// The bit of a holder mask that is memory's own: takes it that copies remain (hammer).
    static constexpr unsigned kMemoryRemembers = 31;
    unsigned l2_access(unsigned core, Line line, Kind kind, Context context);
    unsigned hit(unsigned core, Block& block, Kind kind, Context context);
    unsigned miss(unsigned core, Line line, Kind kind, Context context);
    Snooped snoop(unsigned core, Line line, Bus bus);
    void leave_e(unsigned core, Block& block, Stat why);
    void evict(unsigned core, Block& block);
    void fill_l1(unsigned core, Line line, Kind kind, bool writable);

    Machine machine_;
    Protocol protocol_;
    std::vector<Core> cores_;
    Holders holders_;
    std::uint32_t remembers_ = 0;  ///< memory's bit, when the protocol uses it
    Statistics stats_;
};

}  // namespace s80::model
