// SPDX-License-Identifier: GPL-2.0-or-later
// Ends epochs, and calls the classes that take part in an epoch in the right order
// (docs/background/clock.md).
#pragma once
#include <cstddef>
#include <cstdint>

#include "plugin/access_order.h"
#include "plugin/epoch_sink.h"
#include "plugin/epoch_writer.h"
#include "plugin/expected_time.h"
#include "plugin/slice_scheduler.h"
#include "plugin/vcpu.h"

namespace s80::plugin {

/// An epoch is a span of simulated time. Each processor has a share of it: the instructions that it executes
/// in that time at its recent speed. A stall by a conflict takes its time from the share. The epoch ends when
/// each processor has used up its share or sleeps.
///
/// An epoch ends between two blocks of instructions, never within one. All effects of a block, including the
/// load and the store of a read-modify-write, are in one epoch. No event can therefore end the epoch into
/// which it is written.
///
/// The recorder calls this class for all that concerns time. Each state has one owner: the streams of the
/// epoch EpochWriter, the edges between them AccessOrder, the processors' times ExpectedTime, the time slices
/// SliceScheduler. This class owns none: it joins the four, and ends epochs.
class Epochs {
public:
    /// State for a checkpoint.
    struct State {
        model::CoreSet sleeping;  ///< processors
        ExpectedTime::State time;
        EpochWriter::Totals totals;
    };

    /// The first epoch begins at once. `rules`: by which the expected times are computed. `clock_shift`: see
    /// GuestClock. `lines`: of the guest's memory. The references must outlive this object.
    Epochs(const model::Machine& machine, const model::TimeRules& rules, const VcpuList& vcpus,
           EpochSink& sink, PhasePage& page, VirtualTime& time, Round& round, std::size_t lines,
           unsigned clock_shift, const Schedule& schedule, const State& state,
           std::size_t room = EpochWriter::kRoom);

    // --- events of a processor, at its present instruction ---
    /// Writes an event for which there is no other function below.
    void add(Vcpu& vcpu, model::Event event) { writer_.add(vcpu, event); }
    /// Writes a load, a store or a walk, with edges to the accesses that it conflicts with. If there is a
    /// conflict, the time slice ends, because the processor would stall.
    void access(Vcpu& vcpu, model::Line line, model::Kind kind) {
        if (order_.access_alone(vcpu, line, kind)) [[likely]] {
            SliceScheduler::note_access(vcpu, line, kind);
        } else {
            access_shared(vcpu, line, kind);
        }
    }
    /// `vcpu` sent an interrupt to `target`, and wakes it if it sleeps.
    void interrupt(Vcpu& vcpu, Vcpu& target) { slices_.interrupt(vcpu, target); }
    /// `vcpu` sent an interrupt to processors that are not known.
    void interrupt_all(Vcpu& vcpu) { slices_.interrupt_all(vcpu); }
    /// `vcpu` falls asleep. If all processors sleep now, the epoch ends. `vcpu` wakes with its next time
    /// slice. If an interrupt of this epoch wakes it, its time is then at least the time at which the
    /// interrupt was sent.
    void sleep(Vcpu& vcpu);

    // --- time slices, and where epochs end ---
    /// All processors are known: from now on the guest's clock follows simulated time.
    void start_clock() { time_.start_clock(); }
    /// For tests: each time slice ends after so many instructions, and of all processors the earliest one in
    /// simulated time executes.
    void bound_slices(std::uint64_t instructions) { slices_.bound_slices(instructions); }
    /// A time slice of `next` begins. Returns false if it has used up its share: it is skipped. `registers`:
    /// QEMU's state of the processor; null in tests.
    bool begin_slice(Vcpu& next, const void* registers = nullptr);
    /// Parks the running processor, which is in a polling loop: its polls are counted, but not executed. This
    /// lasts until another processor stores to a line that the loop loads, until an interrupt, or until the
    /// epoch ends.
    void park(Vcpu& vcpu);
    /// Whether the running processor's time slice must end before this block, the one with `Vcpu::block_id`.
    bool slice_over(const Vcpu& vcpu) const { return slices_.over(vcpu); }
    /// Ends the running time slice, if there is one. Ends the epoch, too, if a stream is full or no processor
    /// has instructions left.
    void end_slice();
    /// The running processor reads the guest's clock, which then shows the processor's time.
    void read_clock(Vcpu& vcpu);
    /// The time slice of `vcpu` ends by PAUSE.
    void pause(Vcpu& vcpu);
    void begin_load();
    /// Ends the epoch with this snapshot.
    void mark(model::Mark mark);
    /// Ends the last epoch of the run.
    void finish();

    /// A transaction of the load ends.
    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
        writer_.add_transaction(type, client, failed);
    }
    /// Writes the phase of the run to the guest's page.
    void publish() { writer_.publish(); }

    std::uint64_t total_instructions() const { return writer_.total_instructions(); }
    /// Number of the epoch that is being recorded, from 1.
    std::uint64_t number() const { return writer_.number(); }
    /// Whether it belongs to the measured region.
    bool measuring() const { return writer_.measuring(); }
    State state() const { return {slices_.sleeping(), time_.state(), writer_.totals()}; }

private:
    void access_shared(Vcpu& vcpu, model::Line line, model::Kind kind);
    bool may_begin(Vcpu& next);
    void close_if_used_up();
    void open(std::int64_t last_length);
    void close(model::Mark mark);

    EpochSink& sink_;
    const model::TimeRules rules_;
    EpochWriter writer_;
    AccessOrder order_;
    ExpectedTime time_;
    SliceScheduler slices_;
};

}  // namespace s80::plugin
