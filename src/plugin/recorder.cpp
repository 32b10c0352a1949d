// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/recorder.h"

#include <string>

namespace s80::plugin {

Recorder* the_recorder = nullptr;

Recorder::Recorder(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol)
    : arguments_(arguments),
      machine_(machine),
      protocol_(protocol),
      ram_(arguments.ram, arguments.low_ram),
      watch_(arguments.watch, ram_),
      entry_points_(arguments),
      regions_(arguments),
      vcpus_(machine.processors),
      contexts_(arguments, vcpus_, ram_),
      processes_(arguments, ram_) {
    const Kernel* const kernel = contexts_.kernel();
    if (dma() && (kernel == nullptr || kernel->copy_begin == 0 || kernel->end == 0)) {
        throw model::Error(
            "the plugin argument dma needs a kernel file with the addresses of memcpy and _end");
    }
    if (entry_points_.counts()) {
        watch_.add("calls", entry_points_.calls());
    }
}

void Recorder::find_qemu() {
    qemu_.emplace();
    qemu_->round.verify();
    qemu_->time.verify();
}

// --- set-up, in two steps: when QEMU translates, and when it executes the first block ---

void Recorder::start_model() {
    const std::uint64_t behind = machine_.translation.hashed ? machine_.translation.page_table : 0;
    const std::uint64_t lines = (ram_.end() + behind) >> line_shift();
    playing_.emplace(machine_, protocol_, lines);
    for (unsigned core = machine_.cores() / 2; core < machine_.cores(); ++core) {
        playing_->hierarchy.slow_down(core, static_cast<unsigned>(arguments_.slow));
    }
    Epochs::State state;
    if (!arguments_.state_in.empty()) {
        state = restore(model::load_state(arguments_.state_in, playing_->hierarchy, playing_->merger));
    }
    start_playing(lines);
    epochs_.emplace(
        machine_, model::TimeRules::of_recorder(machine_), vcpus_.vcpus(), *playing_->pipeline, page_,
        qemu_->time, qemu_->round, lines, static_cast<unsigned>(arguments_.clock_shift),
        Schedule(arguments_.skip, arguments_.measure, arguments_.sampling_interval, arguments_.growth),
        state);
    epochs_->bound_slices(arguments_.slice);
    MissNotes* const taken = notes() ? &*misses_ : nullptr;
    memory_.emplace(machine_, ram_, vcpus_.vcpus(), *epochs_, taken);
    // With bounded time slices (for tests), the guest executes in the reference order, in which all polls are
    // executed.
    accesses_.emplace(machine_, ram_, page_, *epochs_, *memory_, taken, arguments_.slice == 0);
}

/// Adds the observers to the timing merger; it calls them in this order. `lines`: number of lines of the
/// guest's memory.
void Recorder::start_playing(std::uint64_t lines) {
    Playing& to = *playing_;
    to.snapshots = std::make_unique<model::SnapshotWriter>(arguments_.out + "/snapshots.jsonl", to.hierarchy,
                                                           watch_.names());
    to.capture = std::make_unique<Capture>(arguments_, machine_, protocol_, lines);
    if (model::Observer* const filter = to.capture->observer()) {
        to.merger.observe(*filter);
    }
    misses_.emplace(arguments_, machine_, vcpus_.vcpus(), to.hierarchy, to.merger);
    contexts_.tell(*misses_);
    processes_.observe(to.merger, machine_);
    to.pipeline = std::make_unique<Pipeline>(to.merger, to.hierarchy, *to.snapshots, *to.capture, watch_);
}

// --- callbacks of QEMU ---

bool Recorder::enter(void* vcpu_state) {
    if (!playing_) {
        start_model();
    }
    return vcpus_.enter(vcpu_state, [&](Vcpu& next) {
        if (!epochs_->begin_slice(next, vcpu_state)) {
            return false;
        }
        accesses_->begin_slice(next, vcpu_state);
        return true;
    });
}

void Recorder::halted(Vcpu& vcpu) {
    if (vcpu.bound()) {
        epochs_->sleep(vcpu);
        Vcpus::leave();
    }
}

void Recorder::paused(Vcpu& vcpu) {
    if (vcpu.bound()) {
        epochs_->pause(vcpu);
        Vcpus::leave();
    }
}

void Recorder::clock_read(Vcpu& vcpu) {
    if (vcpu.bound()) {
        epochs_->read_clock(vcpu);
    }
}

// --- called when the guest executes a marker ---

void Recorder::bind(void* vcpu_state, unsigned processor) {
    if (vcpus_.bind(vcpu_state, processor)) {
        epochs_->start_clock();
    }
}

void Recorder::load_begin() {
    if (!vcpus_.all_seen()) {
        throw model::Error(
            "the load began, but only " + std::to_string(vcpus_.seen()) + " of " +
            std::to_string(vcpus_.vcpus().size()) +
            " processors were bound; compare the guest's processor count with the machine file");
    }
    epochs_->begin_load();
}

void Recorder::program_marks(model::Mark mark, bool by_marker) {
    if (regions_.program_marks(mark, by_marker)) {
        epochs_->mark(mark);
    }
}

void Recorder::run_begins(bool region) {
    regions_.run_begins();
    if (region && regions_.changes(model::Mark::measure_begin)) {
        epochs_->mark(model::Mark::measure_begin);
    }
}

void Recorder::run_ends(bool region) {
    if (region && regions_.changes(model::Mark::measure_end)) {
        epochs_->mark(model::Mark::measure_end);
    }
    regions_.run_ends();
}

// --- when QEMU exits ---

void Recorder::finish() {
    if (!playing_ || finished_) {
        return;
    }
    finished_ = true;
    epochs_->finish();
    playing_->pipeline->drain();
    if (!arguments_.state_out.empty()) {
        model::save_state(arguments_.state_out, playing_->hierarchy, playing_->merger, extra());
    }
    playing_->pipeline.reset();
    misses_->finish();
    processes_.finish();
    playing_->capture.reset();
    playing_->snapshots.reset();
}

}  // namespace s80::plugin
