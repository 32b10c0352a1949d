// SPDX-License-Identifier: GPL-2.0-or-later
// Writes epochs: the stream of events of each processor, and the snapshots that are due at the ends of
// epochs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "plugin/conflicts.h"
#include "plugin/epoch_sink.h"
#include "plugin/phase_page.h"
#include "plugin/schedule.h"
#include "plugin/vcpu.h"
#include "stream/epoch.h"

namespace s80::plugin {

/// Owns the epoch that is being recorded, and the write position in each processor's stream (Vcpu::stream).
/// No other class writes events. `Epochs` decides where an epoch ends: it calls open() and close()
/// alternately, always between two blocks of instructions. All other functions may be called only while an
/// epoch is open.
class EpochWriter final : public StorePositions {
public:
    /// Number of events in a processor's stream after which the epoch must end. The block that reaches this
    /// number is still recorded completely, so a stream may become longer.
    static constexpr std::size_t kRoom = std::size_t{1} << 16;
    /// Counts of the whole run, which snapshots and checkpoints contain.
    struct Totals {
        bool began = false;  ///< whether the load generator has begun its load
        /// Instructions before the checkpoint from which the guest was restored; 0: the guest was not
        /// restored.
        std::uint64_t instructions = 0;
        std::array<std::array<std::uint64_t, model::kOutcomes>, model::kTransactionTypes> transactions{};
        std::set<std::uint64_t> finished;  ///< clients that have finished a transaction
        model::SliceCounts slices;
    };

    /// `room`: capacity of a stream in events, kRoom except in tests. The references must outlive this
    /// object.
    EpochWriter(const VcpuList& vcpus, EpochSink& sink, PhasePage& page, const Schedule& schedule,
                const Totals& totals, std::size_t room);

    // --- events of the open epoch ---
    /// Appends an event to the stream of `vcpu`, at the processor's present instruction. If the stream is
    /// full, grows it; the epoch must then end before the next block (see full()).
    void add(Vcpu& vcpu, model::Event event) {
        StreamEnd& to = vcpu.stream;
        const std::uint64_t delta = vcpu.instructions - to.emitted_at;
        if (delta >= model::kLongestDelta || to.next == to.limit) [[unlikely]] {
            add_far(vcpu, event, delta);
            return;
        }
        *to.next++ = event.after_instructions(delta, vcpu.context);
        to.emitted_at = vcpu.instructions;
    }
    /// Appends the event that `vcpu` sends an interrupt to another processor. Returns the number of the
    /// interrupt in this epoch.
    std::uint32_t add_signal(Vcpu& vcpu);
    /// Writes the edge into the ordering event at this position of the processor's stream.
    void set_edge(unsigned processor, std::size_t position, const model::Edge& edge) {
        vcpus_[processor]->stream.stream->events[position].set_edge(edge);
    }
    /// Marks the event at this position as one that ordering edges name.
    void set_awaited(unsigned processor, std::uint32_t position) {
        vcpus_[processor]->stream.stream->events[position].awaited = 1;
    }
    /// Position of the processor's last store to the line, in its stream of this epoch. Throws model::Error
    /// if there is none.
    std::uint32_t last_store(unsigned processor, model::Line line) const override;
    /// The same for the last load or page walk.
    std::uint32_t last_load(unsigned processor, model::Line line) const;

    // --- beginning and end of an epoch ---
    /// Begins the next epoch.
    void open();
    /// Ends the epoch and hands it over. `mark`: the snapshot that is due at its end; Mark::none: no
    /// snapshot.
    void close(model::Mark mark);
    /// Whether the epoch must end before the next block, because a stream is full.
    bool full() const { return full_; }
    /// Number of the open epoch; the first epoch of this process has number 1.
    std::uint64_t number() const { return number_; }
    /// All processors slept for this number of nanoseconds before this epoch.
    void add_idle(std::uint64_t ns) { epoch_->idle_before_ns += ns; }

    // --- snapshots at the ends of epochs ---
    /// Which snapshot is due if the epoch ends now; Mark::none: none. If one is due, also moves the schedule
    /// on to the next.
    model::Mark due() { return schedule_.due(total_instructions()); }
    /// The load generator begins its load. The caller must then end the epoch.
    void begin_load();
    /// A program's measured region begins. The caller must then end the epoch.
    void begin_region() { schedule_.begin_region(total_instructions()); }
    /// Whether the epoch belongs to the measured region.
    bool measuring() const { return schedule_.phase() == Phase::measured; }
    /// Writes the phase of the run into the guest's phase page, where the load generator reads it.
    void publish() { page_.publish(schedule_.phase()); }

    // --- totals of the whole run ---
    void add_slice(std::uint64_t instructions) { totals_.slices.add(instructions); }
    void add_transaction(std::uint64_t type, std::uint64_t client, bool failed);
    std::uint64_t total_instructions() const;
    const Totals& totals() const { return totals_; }

private:
    void add_far(Vcpu& vcpu, model::Event event, std::uint64_t delta);
    void grow(Vcpu& vcpu);
    template <class Wanted>
    std::uint32_t last(unsigned processor, model::Line line, Wanted&& wanted) const;

    const VcpuList& vcpus_;
    EpochSink& sink_;
    PhasePage& page_;
    Schedule schedule_;
    const std::size_t room_;
    Totals totals_;
    std::unique_ptr<model::Epoch> epoch_;
    std::uint64_t number_ = 0;
    bool full_ = false;
};

}  // namespace s80::plugin
