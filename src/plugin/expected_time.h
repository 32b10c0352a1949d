// SPDX-License-Identifier: GPL-2.0-or-later
// The processors' expected times (Share), and the guest's clock, which shows them.
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

/// Owns the guest's clock, and gives each processor its share of an epoch. The timing merger reports the true
/// times two epochs late; until then the recording side uses the times of this class. Times are in 1/256
/// cycle since the epoch began, if their names do not say nanoseconds. Epochs calls end_epoch() and
/// begin_epoch() in turn, and the functions of time slices where a time slice begins or ends.
class ExpectedTime {
public:
    /// State for a checkpoint.
    struct State {
        bool gap_pending = false;  ///< all sleep; the length of the gap is not known yet
        GuestClock::State clock;
    };

    /// `clock_shift`: see GuestClock. The references must outlive this object.
    ExpectedTime(const model::Machine& machine, const model::TimeRules& rules, const VcpuList& vcpus,
                 VirtualTime& time, unsigned clock_shift, const State& state);

    // --- epochs ---
    /// The epoch ends now. Returns its expected length.
    std::int64_t end_epoch();
    /// An epoch begins: each processor gets its share. `known`: what the timing merger has found out.
    /// `last_length`: what end_epoch() returned; 0: this is the first epoch.
    void begin_epoch(const EpochSink::Known& known, std::int64_t last_length);

    // --- the guest's clock ---
    /// From the next time slice on the guest's clock follows simulated time.
    void start_clock() { starts_ = true; }
    /// Before each time slice. Returns whether the guest's clock starts here: then the epoch must end.
    /// `sink`: knows simulated time.
    bool starts(EpochSink& sink);
    /// Whether the guest's clock follows simulated time.
    bool runs() const { return clock_.runs(); }
    /// Before each time slice. Returns for how long all processors slept, in nanoseconds; 0: they did not.
    std::uint64_t end_gap();
    /// A time slice of `vcpu` begins.
    void begin_slice(const Vcpu& vcpu);
    /// `vcpu` reads its clock after so many instructions of its time slice.
    void read(const Vcpu& vcpu, std::uint64_t instructions);
    /// `vcpu` has executed so many instructions in the time slice that ends.
    void ran(const Vcpu& vcpu, std::uint64_t instructions) {
        clock_.ran(instructions, latest_ns_[vcpu.processor]);
    }
    /// After a time slice of so many instructions. The epoch has ended before this call, if it ends.
    void end_slice(std::uint64_t instructions) { clock_.end_slice(instructions); }
    /// Like end_slice, but all processors sleep now: an idle gap begins.
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
    /// By processor: the latest time that its guest clock has shown.
    std::vector<std::int64_t> latest_ns_;
    std::uint64_t idle_ = 0;  ///< idle gap before this epoch, ns
    /// Idle gaps before the last two epochs that were handed over.
    std::array<std::uint64_t, 2> idle_in_flight_{};
    std::array<std::int64_t, 2> lengths_in_flight_{};  ///< expected lengths of these epochs, ns
};

}  // namespace s80::plugin
