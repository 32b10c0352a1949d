// SPDX-License-Identifier: GPL-2.0-or-later
// The processors' expected times in the open epoch (Share), and the guest's clock, which shows these times to
// the guest.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "machine/machine.h"
#include "plugin/epoch_sink.h"
#include "plugin/guest_clock.h"
#include "plugin/vcpu.h"
#include "timing/rules.h"

namespace s80::plugin {

/// Owns the guest's clock, and gives each processor its share of an epoch. The timing merger knows the true
/// times only two epochs later; until then, the recording side computes with expected times. Times are in
/// 1/256 cycle since the beginning of the epoch, unless a name ends in `ns`. `Epochs` calls end_epoch() and
/// begin_epoch() alternately, and the functions about time slices where a time slice begins or ends.
class ExpectedTime {
public:
    /// What a checkpoint keeps of this class.
    struct State {
        bool gap_pending = false;  ///< all processors sleep, and the length of this idle gap is not known yet
        GuestClock::State clock;
    };

    /// `clock_shift`: see GuestClock. The references must outlive this object.
    ExpectedTime(const model::Machine& machine, const model::TimeRules& rules, const VcpuList& vcpus,
                 VirtualTime& time, unsigned clock_shift, const State& state);

    // --- epochs ---
    /// Ends the epoch. Returns the epoch's expected length, in 1/256 cycle.
    std::int64_t end_epoch();
    /// Begins an epoch: computes each processor's share. `known`: what the timing merger has computed so far.
    /// `last_length`: result of end_epoch(); 0: no epoch has ended before.
    void begin_epoch(const EpochSink::Known& known, std::int64_t last_length);

    // --- the guest's clock ---
    /// From the next time slice on, the guest's clock follows simulated time.
    void start_clock() { starts_ = true; }
    /// Call it before each time slice. Returns true once, if start_clock() has been called: the clock starts
    /// here, and the caller must end the epoch. `sink`: is asked for simulated time.
    bool starts(EpochSink& sink);
    /// Whether the guest's clock follows simulated time yet.
    bool runs() const { return clock_.runs(); }
    /// Call it before each time slice. Returns for how many nanoseconds all processors slept before it; 0:
    /// they did not sleep.
    std::uint64_t end_gap();
    /// Sets the guest's clock for the time slice of `vcpu` that begins.
    void begin_slice(const Vcpu& vcpu);
    /// Sets the guest's clock because `vcpu` reads it. `instructions`: executed in this time slice so far.
    void read(const Vcpu& vcpu, std::uint64_t instructions);
    /// Notes up to which time the guest's clock of `vcpu` has run in the time slice that ends.
    /// `instructions`: executed in the time slice.
    void ran(const Vcpu& vcpu, std::uint64_t instructions) {
        clock_.ran(instructions, latest_ns_[vcpu.processor]);
    }
    /// A time slice of this number of instructions has ended. Call it after the end of the epoch if the epoch
    /// ended with the time slice.
    void end_slice(std::uint64_t instructions) { clock_.end_slice(instructions); }
    /// Like end_slice(), but all processors sleep now: an idle gap begins, whose length end_gap() returns.
    void begin_gap(std::uint64_t instructions) {
        gap_pending_ = true;
        clock_.sleep(instructions);
    }

    State state() const { return {gap_pending_, clock_.state()}; }

private:
    std::int64_t length() const;
    void begin_share(Vcpu& vcpu, const model::TimingMerger::Pace& pace, std::int64_t last_length) const;
    std::int64_t ns(std::int64_t time) const;

    const model::Machine& machine_;
    const model::TimeRules& rules_;
    const VcpuList& vcpus_;
    GuestClock clock_;
    bool starts_ = false;
    bool gap_pending_;
    /// By processor: the latest time that the guest's clock has shown there, ns. The clock never goes back
    /// behind it.
    std::vector<std::int64_t> latest_ns_;
    std::uint64_t idle_ = 0;  ///< length of the idle gap before the open epoch, ns
    /// Lengths of the idle gaps before the last two epochs that were handed over, ns.
    std::array<std::uint64_t, 2> idle_in_flight_{};
    std::array<std::int64_t, 2> lengths_in_flight_{};  ///< expected lengths of these two epochs, ns
};

}  // namespace s80::plugin
