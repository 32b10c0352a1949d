// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/windows.h"

namespace s80::plugin {

using model::Kind;
using model::Mark;

namespace {

/// A loop that polls until a time reads the clock at least once in so many instructions.
constexpr std::uint64_t kWatches = 1'000;

}  // namespace

Windows::Windows(const model::Machine& machine, const model::TimeRules& rules, const Lanes& lanes,
                 WindowSink& sink, PhasePage& page, VirtualTime& time, Round& round, std::size_t lines,
                 unsigned clock_shift, const Schedule& schedule, const State& state, std::size_t room)
    : sink_(sink),
      rules_(rules),
      writer_(lanes, sink, page, schedule, state.totals, room),
      order_(rules_, lanes, writer_, lines),
      time_(machine, rules_, lanes, time, clock_shift, state.time),
      slices_(machine, lanes, round, writer_, time_, state.sleeping) {
    open(0);
    if (state.totals.began) {
        publish();
    }
}

// --- events ---

void Windows::access(Lane& lane, model::Line line, Kind kind) {
    const Conflicts::Found found = order_.access(lane, line, kind);
    SliceScheduler::note_access(lane, line, kind);
    if (found.contended || found.transfers || found.disputed) [[unlikely]] {
        const std::int64_t time = lane.time();
        order_.stall(lane, found);
        slices_.contend(lane, found);
        slices_.stored(found.copies, line, time);
    }
}

void Windows::sleep(Lane& lane) {
    const std::uint64_t ran = slices_.ran(lane);
    slices_.sleep(lane);
    if (slices_.all_sleep()) {
        close(writer_.due());
        time_.begin_gap(ran);
        return;
    }
    close_if_used_up();
    time_.end_slice(ran);
}

// --- time slices ---

bool Windows::begin_slice(Lane& next, const void* registers) {
    slices_.end();  // if QEMU ended it
    if (time_.starts(sink_)) {
        close(writer_.due());
    }
    writer_.add_idle(time_.end_gap());
    if ((next.attention & kHalted) != 0) {
        slices_.wake(next);
    }
    if (writer_.full()) {
        close(writer_.due());
    }
    if (registers != nullptr && !next.polls.parked && next.loop_returned(registers)) {
        SliceScheduler::park(next);
        slices_.take_in_whose_turn_it_is();  // nobody waits for it any more
    }
    if (!may_begin(next)) {
        slices_.skip(next);
        return false;
    }
    if (!slices_.begin(next)) {
        return false;
    }
    time_.begin_slice(next);
    return true;
}

/// Whether the processor has instructions left, if need be in a new epoch.
bool Windows::may_begin(Lane& next) {
    if (next.has_left()) {
        return true;
    }
    close_if_used_up();
    if (slices_.skipped_too_often()) {
        close(writer_.due());
    }
    return next.has_left();
}

void Windows::park(Lane& lane) {
    SliceScheduler::park(lane);
    end_slice();
}

void Windows::end_slice() {
    const Lane* const running = slices_.running();
    if (running == nullptr) {
        return;
    }
    const std::uint64_t ran = slices_.ran(*running);
    slices_.end();
    if (writer_.full()) {
        close(writer_.due());
    } else {
        close_if_used_up();
    }
    time_.end_slice(ran);
}

void Windows::read_clock(Lane& lane) {
    lane.polls.loop.discard();  // the loop around it does not repeat itself
    lane.slice.watches_until = lane.instructions + kWatches;
    if (slices_.running() == &lane) {
        time_.read(lane, slices_.ran(lane));
    }
}

void Windows::pause(Lane& lane) {
    end_slice();
    lane.slice.paused = true;
    lane.slice.after_pause = true;
}

// --- ends of epochs ---

void Windows::begin_load() {
    writer_.begin_load();
    close(Mark::load_begin);
}

void Windows::mark(Mark mark) {
    if (mark == Mark::measure_begin) {
        writer_.begin_region();
    }
    close(mark);
}

void Windows::finish() {
    slices_.end();
    close(Mark::exit);
}

void Windows::close_if_used_up() {
    if (slices_.used_up()) {
        close(writer_.due());
    }
}

void Windows::close(Mark mark) {
    slices_.repeat_to_end();
    const std::int64_t length = time_.end_epoch();
    order_.number_edges();
    writer_.close(mark);
    slices_.take_in_all();
    open(length);
    publish();
}

void Windows::open(std::int64_t last_length) {
    writer_.open();
    order_.begin_epoch();
    slices_.begin_epoch();
    time_.begin_epoch(sink_.known(), last_length);
}

}  // namespace s80::plugin
