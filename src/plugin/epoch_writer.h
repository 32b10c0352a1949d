// SPDX-License-Identifier: GPL-2.0-or-later
// The writer of epochs: the processors' streams, and the snapshots that are due at the ends of epochs.
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

/// Owns the epoch that is being recorded, and the end of each stream in it (Vcpu::stream). Only
/// this class writes events. It does not decide where an epoch ends: Epochs calls open() and close() in
/// turn, always between two blocks of instructions. All other functions are for an open epoch.
class EpochWriter final : public StorePositions {
public:
    /// Maximum number of events of a processor in one epoch. A block that exceeds it is still recorded
    /// completely.
    static constexpr std::size_t kRoom = std::size_t{1} << 16;
    /// Totals of the whole run, for snapshots and for a checkpoint.
    struct Totals {
        bool began = false;              ///< whether the load began
        std::uint64_t instructions = 0;  ///< of the runs before this one
        std::array<std::array<std::uint64_t, model::kOutcomes>, model::kTransactionTypes> transactions{};
        std::set<std::uint64_t> finished;  ///< clients that have finished a transaction
        model::SliceCounts slices;
    };

    /// The references must outlive this object. `room`: kRoom, or less in tests.
    EpochWriter(const VcpuList& vcpus, EpochSink& sink, PhasePage& page, const Schedule& schedule,
                const Totals& totals, std::size_t room);

    // --- events ---
    /// Writes the event at the present instruction of `vcpu`. If the stream is full, it grows, and the epoch
    /// must end at the next block: see full().
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
    /// Writes an interrupt of `vcpu` to another processor, and returns its number in this epoch.
    std::uint32_t add_signal(Vcpu& vcpu);
    /// Sets the edge of the ordering event at this position.
    void set_edge(unsigned processor, std::size_t position, const model::Edge& edge) {
        vcpus_[processor]->stream.stream->events[position].set_edge(edge);
    }
    /// Marks an event that ordering edges name.
    void set_awaited(unsigned processor, std::uint32_t position) {
        vcpus_[processor]->stream.stream->events[position].awaited = 1;
    }
    /// Positions of the processor's last store, and last load or walk, of the line in this epoch. Throws
    /// model::Error if the epoch has none.
    std::uint32_t last_store(unsigned processor, model::Line line) const override;
    std::uint32_t last_load(unsigned processor, model::Line line) const;

    // --- epochs ---
    /// The next epoch begins.
    void open();
    /// The epoch ends with this snapshot, and is handed over.
    void close(model::Mark mark);
    /// Whether the epoch must end at the next block.
    bool full() const { return full_; }
    /// Number of the epoch, from 1.
    std::uint64_t number() const { return number_; }
    /// Before this epoch all processors slept for so many nanoseconds.
    void add_idle(std::uint64_t ns) { epoch_->idle_before_ns += ns; }

    // --- snapshots ---
    /// The snapshot that is due if the epoch ends now. Advances the schedule if there is one.
    model::Mark due() { return schedule_.due(total_instructions()); }
    /// The load begins. The caller then ends the epoch.
    void begin_load();
    /// A program's region begins. The caller then ends the epoch.
    void begin_region() { schedule_.begin_region(total_instructions()); }
    /// Whether the epoch belongs to the measured region.
    bool measuring() const { return schedule_.phase() == Phase::measured; }
    /// Writes the phase of the run to the guest's page.
    void publish() { page_.publish(schedule_.phase()); }

    // --- totals ---
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
