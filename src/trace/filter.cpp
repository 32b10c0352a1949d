// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/filter.h"

#include <algorithm>

namespace s80::trace {

using model::Event;
using model::Kind;
using model::Line;
using model::Op;

namespace {

constexpr std::size_t kSeen = 512;
/// Number of events between the host's prefetch of a set and its use.
constexpr std::size_t kAhead = 8;

}  // namespace

L1Filter::L1Filter(const model::Machine& machine)
    : code_(machine.l1i, machine.line_bytes, machine.policy, machine.cores()),
      data_(machine.l1d, machine.line_bytes, machine.policy, machine.cores()),
      seen_(kSeen + kAhead),
      passed_(machine.processors, 0),
      epoch_(machine.processors) {
    for (unsigned p = 0; p < machine.processors; ++p) {
        core_.push_back(static_cast<std::uint8_t>(p / machine.threads_per_core));
    }
    epoch_.placed = true;
}

void L1Filter::event(unsigned processor, const Event& event, std::int64_t) {
    seen_[waiting_] = {event, static_cast<std::uint8_t>(processor)};
    if (++waiting_ == kSeen) {
        drain();
    }
}

void L1Filter::drain() {
    const std::size_t waiting = waiting_;
    for (std::size_t i = 0; i < waiting; ++i) {
        const Seen& soon = seen_[i + kAhead];
        (soon.event.op == Op::ifetch ? code_ : data_).host_prefetch(core_[soon.processor], soon.event.line);
        const Event& event = seen_[i].event;
        const unsigned processor = seen_[i].processor;
        passed_[processor] += event.delta;
        if (!event.is_access()) {
            if (event.op != Op::pass || event.awaited != 0) {
                emit(processor, event);
            }
            continue;
        }
        const unsigned way = access(core_[processor], event.line, event.kind());
        if (way != kAbsorbed) {
            Event placed = event;
            placed.set_l1_way(way);
            emit(processor, placed);
        } else if (event.awaited != 0) {
            Event pass = Event::pass().after_instructions(0, event.context);
            pass.awaited = 1;
            emit(processor, pass);
        }
    }
    waiting_ = 0;
}

unsigned L1Filter::access(unsigned core, Line line, Kind kind) {
    FilterCaches& l1 = kind == Kind::ifetch ? code_ : data_;
    const std::size_t set = l1.set(core, line);
    const unsigned way = l1.find(set, line);
    if (way != FilterCaches::kAbsent) {
        l1.touch(core, set, way);
        if (kind == Kind::store ? l1.writable(set, way) : !l1.doubtful(set, way)) {
            return kAbsorbed;
        }
    }
    return kind == Kind::store ? store(core, line, way) : read(core, line, kind == Kind::ifetch, way);
}

// The two functions below handle an access that the filter cannot drop, and return the way of the core's L1
// that then holds the line. `way`: the way that holds it already, or kAbsent.

unsigned L1Filter::store(unsigned core, Line line, unsigned way) {
    code_.others(core, line, [&](std::size_t set, unsigned copy) { code_.drop(set, copy); });
    data_.others(core, line, [&](std::size_t set, unsigned copy) { data_.drop(set, copy); });
    const std::size_t own_code = code_.set(core, line);
    if (const unsigned copy = code_.find(own_code, line); copy != FilterCaches::kAbsent) {
        code_.drop(own_code, copy);
    }
    const std::size_t set = data_.set(core, line);
    if (way == FilterCaches::kAbsent) {
        way = data_.fill(core, set, line);
    }
    data_.trust(set, way);
    data_.allow_writes(set, way);
    storer(line) = static_cast<model::CoreNumber>(core);
    return way;
}

model::CoreNumber& L1Filter::storer(Line line) {
    if (line >= storers_.size()) {
        storers_.resize(std::max<std::size_t>(line + std::size_t{1}, storers_.size() * 2), model::kNobody);
    }
    return storers_[line];
}

unsigned L1Filter::read(unsigned core, Line line, bool fetch, unsigned way) {
    if (model::CoreNumber& by = storer(line); by != model::kNobody && by != core) {
        for (FilterCaches* const l1 : {&code_, &data_}) {
            const std::size_t set = l1->set(by, line);
            if (const unsigned copy = l1->find(set, line); copy != FilterCaches::kAbsent) {
                l1->doubt(set, copy);
            }
        }
        by = model::kNobody;
    }
    if (fetch) {
        const std::size_t own_data = data_.set(core, line);
        if (const unsigned copy = data_.find(own_data, line); copy != FilterCaches::kAbsent) {
            data_.forbid_writes(own_data, copy);
        }
    }
    FilterCaches& l1 = fetch ? code_ : data_;
    const std::size_t set = l1.set(core, line);
    if (way == FilterCaches::kAbsent) {
        return l1.fill(core, set, line);
    }
    l1.trust(set, way);
    return way;
}

void L1Filter::emit(unsigned processor, Event event) {
    if (ended_) {
        for (model::Stream& stream : epoch_.streams) {
            stream.size = 0;
        }
        ended_ = false;
    }
    model::Stream& stream = epoch_.streams[processor];
    std::uint64_t& delta = passed_[processor];
    const std::size_t needed = stream.size + delta / model::kLongestDelta + 1;
    if (stream.events.size() < needed) {
        stream.events.resize(needed * 2);
    }
    for (; delta > model::kLongestDelta; delta -= model::kLongestDelta) {
        stream.events[stream.size++] = Event::pass().after_instructions(model::kLongestDelta, event.context);
    }
    stream.events[stream.size++] = event.after_instructions(delta, event.context);
    delta = 0;
}

void L1Filter::end(const model::Epoch& epoch) {
    drain();
    for (std::size_t p = 0; p < epoch.streams.size(); ++p) {
        const model::Stream& from = epoch.streams[p];
        model::Stream& to = epoch_.streams[p];
        to.size = ended_ ? 0 : to.size;
        to.tail = passed_[p] + from.tail;
        to.ran = from.ran;
        to.runs_on = from.runs_on;
        to.clear_counts();
        to.add_counts(from);
        passed_[p] = 0;
    }
    ended_ = true;
    epoch_.counted = epoch.counted;
    epoch_.signals = epoch.signals;
    epoch_.idle_before_ns = epoch.idle_before_ns;
    epoch_.mark = epoch.mark;
    epoch_.index = epoch.index;
    epoch_.instructions = epoch.instructions;
    epoch_.transactions = epoch.transactions;
    epoch_.slices = epoch.slices;
}

}  // namespace s80::trace
