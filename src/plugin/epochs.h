// SPDX-License-Identifier: GPL-2.0-or-later
// Decides where epochs end, and calls the classes that take part in an epoch in the right order
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

/// An epoch is a span of simulated time of fixed nominal length. In each epoch a processor has a share: the
/// number of instructions that it can execute in this time at its recent speed. Stalls by conflicts are taken
/// from the share. The epoch ends when each processor has used up its share or sleeps.
///
/// An epoch ends between two blocks of instructions, never within a block. So all effects of a block are in
/// one epoch, also the load and the store of a read-modify-write. It follows that an event never ends the
/// epoch into which it is written.
///
/// The recorder calls this class for everything that concerns time. State is owned by four other classes:
/// EpochWriter owns the streams, AccessOrder the ordering edges, ExpectedTime the processors' times, and
/// SliceScheduler the time slices. This class has no state; it calls the four.
class Epochs {
public:
    /// What a checkpoint keeps of the four classes.
    struct State {
        model::CoreSet sleeping;  ///< processors that are halted
        ExpectedTime::State time;
        EpochWriter::Totals totals;
    };

    /// Begins the first epoch. `rules`: how expected times are computed. `sink`: takes the recorded epochs.
    /// `lines`: number of lines of the guest's memory. `clock_shift`: see GuestClock. `state`: from a
    /// checkpoint. `room`: see EpochWriter. The references must outlive this object.
    Epochs(const model::Machine& machine, const model::TimeRules& rules, const VcpuList& vcpus,
           EpochSink& sink, PhasePage& page, VirtualTime& time, Round& round, std::size_t lines,
           unsigned clock_shift, const Schedule& schedule, const State& state,
           std::size_t room = EpochWriter::kRoom);

    // --- events of a processor, written at its present instruction ---
    /// Writes an event that is neither a load, store or page walk, nor an interrupt.
    void add(Vcpu& vcpu, model::Event event) { writer_.add(vcpu, event); }
    /// Writes a load, store or page walk, after ordering edges to the accesses that it conflicts with. If it
    /// conflicts, may end the time slice after this block: on the machine the processor would stall.
    void access(Vcpu& vcpu, model::Line line, model::Kind kind) {
        if (order_.access_alone(vcpu, line, kind)) [[likely]] {
            SliceScheduler::note_access(vcpu, line, kind);
        } else {
            access_shared(vcpu, line, kind);
        }
    }
    /// `vcpu` sends an interrupt to `target`, and wakes `target` if it sleeps.
    void interrupt(Vcpu& vcpu, Vcpu& target) { slices_.interrupt(vcpu, target); }
    /// `vcpu` sends an interrupt to a group of processors that the plugin does not determine.
    void interrupt_all(Vcpu& vcpu) { slices_.interrupt_all(vcpu); }
    /// `vcpu` executes HLT. Ends the epoch if all processors sleep now. `vcpu` wakes when QEMU begins a time
    /// slice of it; if an interrupt of this epoch wakes it, its time becomes at least the time at which the
    /// interrupt was sent.
    void sleep(Vcpu& vcpu);

    // --- time slices and ends of epochs ---
    /// Each processor has been bound to its vCPU. From the next time slice on, the guest's clock follows
    /// simulated time.
    void start_clock() { time_.start_clock(); }
    /// For tests: each time slice ends after this number of instructions, and always the processor that is
    /// earliest in simulated time executes. 0: time slices are not bounded.
    void bound_slices(std::uint64_t instructions) { slices_.bound_slices(instructions); }
    /// QEMU begins a time slice of `next`. Returns false if QEMU must skip the processor: it has used up its
    /// share, or another contender comes first. `registers`: QEMU's state of the processor; null in tests.
    bool begin_slice(Vcpu& next, const void* registers = nullptr);
    /// Parks the running processor, which has executed one iteration of a polling loop: its further polls are
    /// counted as executed, but QEMU does not execute them. The processor executes again after another
    /// processor stores to a line that the loop loads, after an interrupt, or in the next epoch.
    void park(Vcpu& vcpu);
    /// Whether the time slice of the running processor must end before the block that begins. Vcpu::block_id
    /// identifies this block.
    bool slice_over(const Vcpu& vcpu) const { return slices_.over(vcpu); }
    /// Ends the running time slice, if there is one. Also ends the epoch if a stream is full or no processor
    /// has instructions left.
    void end_slice();
    /// The running processor reads its time-stamp counter: sets the guest's clock to the processor's expected
    /// time.
    void read_clock(Vcpu& vcpu);
    /// `vcpu` executes PAUSE, at which QEMU ends the time slice.
    void pause(Vcpu& vcpu);
    void begin_load();
    /// Ends the epoch with this snapshot.
    void mark(model::Mark mark);
    /// Ends the last epoch; QEMU exits.
    void finish();

    /// A client of the load generator ends a transaction.
    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
        writer_.add_transaction(type, client, failed);
    }
    /// See EpochWriter::publish.
    void publish() { writer_.publish(); }

    std::uint64_t total_instructions() const { return writer_.total_instructions(); }
    /// Number of the epoch that is being recorded, from 1.
    std::uint64_t number() const { return writer_.number(); }
    /// Whether the open epoch belongs to the measured region.
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
