// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/epochs.h"

namespace s80::plugin {

using model::Kind;
using model::Mark;

namespace {

/// A processor that has read the clock counts as polling the clock for at most this number of further
/// instructions.
constexpr std::uint64_t kWatches = 1'000;

}  // namespace

Epochs::Epochs(const model::Machine& machine, const model::TimeRules& rules, const VcpuList& vcpus,
               EpochSink& sink, PhasePage& page, VirtualTime& time, Round& round, std::size_t lines,
               unsigned clock_shift, const Schedule& schedule, const State& state, std::size_t room)
    : sink_(sink),
      rules_(rules),
      writer_(vcpus, sink, page, schedule, state.totals, room),
      order_(rules_, vcpus, writer_, lines),
      time_(machine, rules_, vcpus, time, clock_shift, state.time),
      slices_(machine, vcpus, round, writer_, time_, state.sleeping) {
    open(0);
    if (state.totals.began) {
        publish();
    }
}

// --- events of a processor ---

void Epochs::access_shared(Vcpu& vcpu, model::Line line, Kind kind) {
    const Conflicts::Found found = order_.access(vcpu, line, kind);
    SliceScheduler::note_access(vcpu, line, kind);
    if (found.contended || found.transfers || found.disputed) [[unlikely]] {
        const std::int64_t time = vcpu.time();
        order_.stall(vcpu, found);
        slices_.contend(vcpu, found);
        slices_.stored(found.copies, line, time);
    }
}

void Epochs::sleep(Vcpu& vcpu) {
    const std::uint64_t ran = slices_.ran(vcpu);
    slices_.sleep(vcpu);
    if (slices_.all_sleep()) {
        close(writer_.due());
        time_.begin_gap(ran);
        return;
    }
    close_if_used_up();
    time_.end_slice(ran);
}

// --- time slices ---

bool Epochs::begin_slice(Vcpu& next, const void* registers) {
    slices_.end();  // QEMU itself may have ended the last time slice
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
        // The parked processor no longer contends, so others may execute now.
        slices_.take_in_next_contender();
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

/// Whether `next` has instructions left. Before it answers, it begins a new epoch if no processor has any
/// left, or if QEMU does not execute those that have (SliceScheduler::skipped_too_often).
bool Epochs::may_begin(Vcpu& next) {
    if (next.has_left()) {
        return true;
    }
    close_if_used_up();
    if (!next.has_left() && slices_.skipped_too_often()) {
        close(writer_.due());
    }
    return next.has_left();
}

void Epochs::park(Vcpu& vcpu) {
    SliceScheduler::park(vcpu);
    end_slice();
}

void Epochs::end_slice() {
    const Vcpu* const running = slices_.running();
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

void Epochs::read_clock(Vcpu& vcpu) {
    // A loop that reads the clock sees another value in each iteration, so it cannot be counted without being
    // executed.
    vcpu.polls.loop.discard();
    vcpu.slice.watches_until = vcpu.instructions + kWatches;
    if (slices_.running() == &vcpu) {
        time_.read(vcpu, slices_.ran(vcpu));
    }
}

void Epochs::pause(Vcpu& vcpu) {
    end_slice();
    vcpu.slice.paused = true;
    vcpu.slice.after_pause = true;
}

// --- ends of epochs ---

void Epochs::begin_load() {
    writer_.begin_load();
    close(Mark::load_begin);
}

void Epochs::mark(Mark mark) {
    if (mark == Mark::measure_begin) {
        writer_.begin_region();
    }
    close(mark);
}

void Epochs::finish() {
    slices_.end();
    close(Mark::exit);
}

void Epochs::close_if_used_up() {
    if (slices_.used_up()) {
        close(writer_.due());
    }
}

void Epochs::close(Mark mark) {
    slices_.repeat_to_end();
    const std::int64_t length = time_.end_epoch();
    order_.number_edges();
    writer_.close(mark);
    slices_.take_in_all();
    open(length);
    publish();
}

void Epochs::open(std::int64_t last_length) {
    writer_.open();
    order_.begin_epoch();
    slices_.begin_epoch();
    time_.begin_epoch(sink_.known(), last_length);
}

}  // namespace s80::plugin
