// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/home/bus.h"

namespace s80::model {

BusHome::BusHome(const HomeParts& parts)
    : Home(parts), remembers_(parts.protocol.leaves_shared()), interconnect_(parts.machine) {
    if (!parts.protocol.bus_suffices()) {
        throw Error("protocol " + parts.protocol.name() +
                    " has a [home] that needs more than a bus; machine " + parts.machine.name +
                    " has neither a last-level cache nor a directory");
    }
    if (remembers_ && parts.machine.agents() > Sharers::kMostMarkedCores) {
        throw Error("protocol " + parts.protocol.name() +
                    " has memory remember sharers ([home]), which supports at most " +
                    std::to_string(Sharers::kMostMarkedCores) + " cores and group caches; machine " +
                    parts.machine.name + " has " + std::to_string(parts.machine.agents()));
    }
}

/// Tells the interconnect the time of this access, once. The interconnect then writes back the blocks that
/// the access before evicted, before this access makes requests.
void BusHome::take_note_of_time() {
    if (moved_on_) {
        moved_on_ = false;
        interconnect_.now(now_, parts_.stats);
    }
}

Reply BusHome::request(const Access& a, Bus bus, Outcome& outcome) {
    Statistics& stats = parts_.stats;
    take_note_of_time();
    const bool holds = parts_.sharers.cores(a.line).has(a.core);
    Reply reply = snoop(a, bus, outcome, [&] { interconnect_.copied_to_memory(stats, a.line); });
    if (remembers_ && parts_.sharers.marked(a.line)) {
        if (bus == Bus::read) {
            reply.shared = true;
        } else {
            parts_.sharers.unmark(a.line);
        }
    }
    parts_.sharers.add(a.line, a.core);
    if (holds) {
        outcome.place = Place::l2;
        outcome.stall = parts_.topology.upgrade(a.core) + interconnect_.bus(stats);
    } else if (outcome.supplier != kNobody) {
        outcome.place = Place::peer;
        outcome.stall = parts_.topology.transfer(a.core, outcome.supplier) + interconnect_.bus(stats);
    } else {
        outcome.place = Place::memory;
        outcome.stall = parts_.topology.memory(a.core) + interconnect_.bus_and_memory(stats, a.line);
    }
    return reply;
}

void BusHome::evicted(unsigned core, Line line, Block block) {
    const OwnCell& cell = parts_.protocol.own(OwnEvent::evict, block.state);
    parts_.sharers.remove(line, core);
    if (cell.leaves_shared) {
        parts_.sharers.mark(line);
    }
    if (cell.writeback) {
        take_note_of_time();
        interconnect_.evicted(line);
    }
}

void BusHome::device_read(Line line) {
    for (const unsigned core : parts_.sharers.cores(line)) {
        parts_.caches.clean(core, line);
    }
    take_note_of_time();
    interconnect_.evicted(line);
}

void BusHome::device_write(Line line) {
    for (const unsigned core : parts_.sharers.cores(line)) {
        parts_.caches.invalidate(core, line);
        parts_.sharers.remove(line, core);
    }
    parts_.sharers.unmark(line);
    take_note_of_time();
    interconnect_.evicted(line);
}

void BusHome::epoch_ended(std::int64_t next) {
    interconnect_.forget(next, parts_.stats);
}

std::vector<Line> BusHome::remembered() const {
    std::vector<Line> lines;
    for (Line line = 0; remembers_ && line < parts_.sharers.lines(); ++line) {
        if (parts_.sharers.marked(line)) {
            lines.push_back(line);
        }
    }
    return lines;
}

void BusHome::remember(Line line) {
    parts_.sharers.mark(line);
}

}  // namespace s80::model
