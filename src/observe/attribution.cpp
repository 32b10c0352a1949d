// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/attribution.h"

#include <algorithm>
#include <limits>

namespace s80::model {

std::uint64_t time_ns(std::uint64_t begin_ns, std::uint64_t clock_hz, std::int64_t clock) {
    constexpr double kPartsOfCycle = 256;
    constexpr double kNs = 1e9;
    const double cycles = static_cast<double>(std::max<std::int64_t>(clock, 0)) / kPartsOfCycle;
    return begin_ns + static_cast<std::uint64_t>(cycles * kNs / static_cast<double>(clock_hz));
}

Attribution::Attribution(const Hierarchy& hierarchy, const TimingMerger& merger, Sink sink)
    : hierarchy_(hierarchy),
      merger_(merger),
      sink_(std::move(sink)),
      number_memory_(hierarchy.lines() * sizeof(std::uint32_t), "the log of misses"),
      cores_memory_(hierarchy.lines() * sizeof(Cores), "the log of misses"),
      numbers_(reinterpret_cast<std::uint32_t*>(number_memory_.data())),
      cores_(reinterpret_cast<Cores*>(cores_memory_.data())),
      taken_(1),
      shadows_(hierarchy.machine().cores(), Shadow(hierarchy.lines_per_core())) {}

/// A measured region begins. Forgets what it knows from an earlier region. Lines that are in a core's caches
/// now are not cold for the core. The order in which they were used is not known, so the shadow tags get them
/// in any order.
void Attribution::start() {
    if (active_) {
        return;
    }
    active_ = true;
    if (regions_++ != 0) {
        number_memory_.clear();
        cores_memory_.clear();
        taken_.assign(1, {});
        shadows_.assign(shadows_.size(), Shadow(hierarchy_.lines_per_core()));
    }
    for (unsigned core = 0; core < hierarchy_.machine().cores(); ++core) {
        const CoreCaches& caches = hierarchy_.caches().core(core);
        for (const Cache* cache : {&caches.l2, &caches.l1i, &caches.l1d}) {
            cache->each_line([&](Line line) {
                cores_[line].ever.add(core);
                touch_shadow(core, line);
            });
        }
    }
}

void Attribution::end(const Epoch& epoch) {
    if (epoch.mark == Mark::measure_begin) {
        start();
    } else if (epoch.mark == Mark::measure_end && active_) {
        active_ = false;
    }
}

void Attribution::event(unsigned processor, const Event& event, std::int64_t clock) {
    if (active_ && event.op == Op::device_write) {  // a device writes whole lines
        for (const unsigned core : hierarchy_.caches().sharers(event.line)) {
            lost(core, event.line, std::numeric_limits<std::uint16_t>::max(), kNobody);
        }
    }
    if (!active_ || !event.is_access()) {
        return;
    }
    const Stream& stream = epoch_->streams[processor];
    event_ = &event;
    note_ = &stream.notes[static_cast<std::size_t>(&event - stream.events.data())];
    processor_ = processor;
    clock_ = clock;
    // The note of a load has no writes; so that it need not be read, the op is asked first.
    if (event.op != Op::store || note_->writes == 0 || numbers_[event.line] == 0) {
        return;
    }
    Taken& taken = taken_[numbers_[event.line]];
    const unsigned core = processor / hierarchy_.machine().threads_per_core;
    for (const unsigned other : taken.lost.without(core)) {
        taken.foreign[other] |= note_->writes;
    }
}

/// The access went beyond the L1. Each core that had a copy before and has none now has lost it to the
/// requester.
void Attribution::beyond_l1(const Outcome& outcome) {
    if (!active_) {
        return;
    }
    const unsigned core = processor_ / hierarchy_.machine().threads_per_core;
    const Line line = event_->line;
    const bool in_shadow = touch_shadow(core, line);
    for (const unsigned other : outcome.had_copies - hierarchy_.caches().sharers(line)) {
        lost(other, line, note_->writes, core);
    }
    if (outcome.missed()) {
        missed(core, line, in_shadow, request(core, outcome));
    } else if (outcome.upgraded()) {
        Miss miss = request(core, outcome);
        miss.traits.request = Request::upgrade;
        stored(core, line);
        sink_(miss);
    }
}

/// An agent loses its copy of the line to the core `to`, or to a device. `writes`: granules that the access
/// writes. What a group cache loses, each core of the group loses that has held the line.
void Attribution::lost(unsigned agent, Line line, std::uint16_t writes, unsigned to) {
    if (!hierarchy_.machine().is_group_cache(agent)) {
        lost(agent, line, writes);
        return;
    }
    for (const unsigned core : hierarchy_.machine().cores_of(agent) & cores_[line].ever) {
        if (core != to) {
            lost(core, line, writes);
        }
    }
}

/// A core has lost its copy of the line to another core or a device. `writes`: granules that the other one's
/// access writes.
void Attribution::lost(unsigned core, Line line, std::uint16_t writes) {
    std::uint32_t& number = numbers_[line];
    if (number == 0) {
        number = static_cast<std::uint32_t>(taken_.size());
        taken_.emplace_back();
    }
    Taken& taken = taken_[number];
    taken.lost.add(core);
    taken.foreign[core] = writes;
    shadows_[core].drop(line);
}

void Attribution::missed(unsigned core, Line line, bool in_shadow, Miss miss) {
    Taken& taken = taken_[numbers_[line]];
    if (taken.lost.has(core)) {
        miss.traits.reason = Reason::coherence;
        miss.foreign = taken.foreign[core];
        miss.traits.sharing =
            ((miss.reads | miss.writes) & miss.foreign) != 0 ? Sharing::true_sharing : Sharing::false_sharing;
        taken.lost.remove(core);
    } else if (!cores_[line].ever.has(core)) {
        miss.traits.reason = Reason::cold;
    } else {
        miss.traits.reason = in_shadow ? Reason::conflict : Reason::capacity;
    }
    cores_[line].ever.add(core);
    if (miss.traits.kind == Kind::store) {
        stored(core, line);
    }
    sink_(miss);
}

/// A core has stored to the line. No cache of another core can hold the line then, not even a fully
/// associative one: removes the line from the other cores' shadow tags.
void Attribution::stored(unsigned core, Line line) {
    CoreSet& shadowed = cores_[line].shadowed;
    for (const unsigned other : shadowed.without(core)) {
        shadows_[other].drop(line);
        shadowed.remove(other);
    }
}

Miss Attribution::request(unsigned core, const Outcome& outcome) const {
    const Machine& machine = hierarchy_.machine();
    Miss miss;
    miss.time_ns = time_ns(begin_ns_, machine.clock_hz, clock_);
    miss.pc = note_->pc;
    miss.address = note_->address;
    miss.physical = static_cast<std::uint64_t>(event_->line) * machine.line_bytes;
    miss.who = note_->who;
    miss.holders = outcome.had_copies & CoreSet::below(machine.cores());
    miss.reads = note_->reads;
    miss.writes = note_->writes;
    miss.traits.core = static_cast<std::uint8_t>(core);
    miss.traits.processor = static_cast<std::uint8_t>(processor_);
    miss.traits.kind = event_->kind();
    miss.traits.source = labels(outcome).source;
    const bool in_group = outcome.supplier != kNobody && machine.is_group_cache(outcome.supplier);
    miss.traits.supplier =
        in_group ? static_cast<std::uint8_t>(*machine.cores_of(outcome.supplier).begin()) : outcome.supplier;
    miss.traits.context = event_->context;
    miss.traits.size = note_->size;
    miss.stall = outcome.stall;
    return miss;
}

}  // namespace s80::model
