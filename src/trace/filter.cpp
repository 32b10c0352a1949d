// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/filter.h"

namespace s80::trace {

using model::Event;
using model::Kind;
using model::Line;
using model::Op;

L1Filter::L1Filter(const model::Machine& machine)
    : threads_per_core_(machine.threads_per_core),
      fetched_(machine.l1i, machine.line_bytes, machine.policy, machine.cores()),
      data_(machine.l1d, machine.line_bytes, machine.policy, machine.cores()),
      passed_(machine.processors, 0),
      window_(machine.processors) {
    window_.placed = true;
}

void L1Filter::event(unsigned processor, const Event& event, std::int64_t) {
    passed_[processor] += event.delta;
    if (event.op > Op::walk) {
        if (event.op != Op::pass) {
            emit(processor, event);
        }
        return;
    }
    const unsigned way = access(processor / threads_per_core_, event.line, static_cast<Kind>(event.op));
    if (way != kAbsorbed) {
        Event placed = event;
        placed.way = static_cast<std::uint8_t>(way & 15);
        emit(processor, placed);
    }
}

unsigned L1Filter::access(unsigned core, Line line, Kind kind) {
    FilterCaches& l1 = kind == Kind::ifetch ? fetched_ : data_;
    const unsigned way = l1.find(core, line);
    if (way != FilterCaches::kAbsent) {
        l1.touch(core, line, way);
        if (kind != Kind::store || l1.writable(core, line, way)) {
            return kAbsorbed;
        }
    }
    return kind == Kind::store ? store(core, line) : read(core, line, kind == Kind::ifetch);
}

unsigned L1Filter::store(unsigned core, Line line) {
    fetched_.others(core, line, [&](unsigned other, unsigned way) { fetched_.drop(other, line, way); });
    data_.others(core, line, [&](unsigned other, unsigned way) { data_.drop(other, line, way); });
    if (const unsigned copy = fetched_.find(core, line); copy != FilterCaches::kAbsent) {
        fetched_.drop(core, line, copy);
    }
    unsigned way = data_.find(core, line);
    if (way == FilterCaches::kAbsent) {
        way = data_.fill(core, line);
    }
    data_.allow_writes(core, line, way);
    return way;
}

unsigned L1Filter::read(unsigned core, Line line, bool fetch) {
    data_.others(core, line, [&](unsigned other, unsigned way) {
        if (data_.writable(other, line, way)) {
            data_.drop(other, line, way);
        }
    });
    if (fetch) {
        if (const unsigned copy = data_.find(core, line); copy != FilterCaches::kAbsent) {
            data_.forbid_writes(core, line, copy);
        }
    }
    return (fetch ? fetched_ : data_).fill(core, line);
}

void L1Filter::emit(unsigned processor, Event event) {
    constexpr std::uint64_t kLongestDelta = 0xffff;
    if (fresh_) {
        for (model::Stream& stream : window_.streams) {
            stream.size = 0;
        }
        fresh_ = false;
    }
    model::Stream& stream = window_.streams[processor];
    std::uint64_t& delta = passed_[processor];
    const std::size_t needed = stream.size + delta / kLongestDelta + 1;
    if (stream.events.size() < needed) {
        stream.events.resize(needed * 2);
    }
    for (; delta > kLongestDelta; delta -= kLongestDelta) {
        stream.events[stream.size++] = Event{0, kLongestDelta, Op::pass, 0, event.context};
    }
    event.delta = static_cast<std::uint16_t>(delta);
    delta = 0;
    stream.events[stream.size++] = event;
}

void L1Filter::end(const model::Window& window) {
    for (std::size_t p = 0; p < window.streams.size(); ++p) {
        const model::Stream& from = window.streams[p];
        model::Stream& to = window_.streams[p];
        to.size = fresh_ ? 0 : to.size;
        to.tail = passed_[p] + from.tail;
        to.ran = from.ran;
        to.runs_on = from.runs_on;
        to.instructions = from.instructions;
        to.accesses = from.accesses;
        to.classes = from.classes;
        passed_[p] = 0;
    }
    fresh_ = true;
    window_.counted = window.counted;
    window_.signals = window.signals;
    window_.idle_before_ns = window.idle_before_ns;
    window_.mark = window.mark;
    window_.index = window.index;
    window_.instructions = window.instructions;
    window_.transactions = window.transactions;
}

}  // namespace s80::trace
