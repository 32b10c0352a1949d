// SPDX-License-Identifier: GPL-2.0-or-later
// A processor's expected time in the open epoch, and its share of the epoch (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace s80::plugin {

/// Computes a processor's expected time from its instructions, and the instruction up to which the processor
/// may execute in this epoch. Times are in 1/256 cycle since the beginning of the epoch. The parameter
/// `instructions` is always Vcpu::instructions, the processor's count since the start.
///
/// ExpectedTime calls begin_epoch() once per epoch. AccessOrder calls spend() for a stall by a conflict, and
/// SliceScheduler calls set() when the processor wakes.
class Share {
public:
    static constexpr std::uint64_t kForever = ~std::uint64_t{0};

    /// An epoch begins. `expected_end`: the processor's expected time at the end of the last epoch, relative
    /// to the beginning of this one. `known`: the same for the epoch two before the last one, but the true
    /// value, which the timing merger has computed meanwhile. `cpi`: 1/256 cycle per instruction, without the
    /// stalls that spend() adds. `length`: of the epoch, in 1/256 cycle; 0: the guest's clock does not follow
    /// simulated time yet, so the share has no end.
    void begin_epoch(std::uint64_t instructions, std::int64_t expected_end, std::int64_t known,
                     std::uint64_t cpi, std::int64_t length) {
        if (length_ == 0) {
            leads_.fill(known);
            expected_end = known;
        }
        leads_ = {leads_[1], leads_[2], expected_end};
        // The expected times of the two later epochs contain the same error, so all three are corrected.
        const std::int64_t correction = (known - leads_[0]) / kCorrected;
        for (std::int64_t& lead : leads_) {
            lead += correction;
        }
        cpi_ = cpi;
        length_ = length;
        begun_at_ = instructions;
        begun_ = length != 0 ? leads_[2] : 0;
        set(instructions, begun_);
    }
    /// Sets the processor's expected time at this instruction.
    void set(std::uint64_t instructions, std::int64_t time) {
        at_ = instructions;
        base_ = time;
        find_end();
    }
    /// The processor stalls for this time.
    void spend(std::int64_t time) {
        base_ += time;
        find_end();
    }
    /// The processor's expected time at this instruction.
    std::int64_t time(std::uint64_t instructions) const {
        return base_ + static_cast<std::int64_t>((instructions - at_) * cpi_);
    }
    /// The value of Vcpu::instructions at which the processor will have passed this time.
    std::uint64_t reaches(std::int64_t time) const {
        return at_ + static_cast<std::uint64_t>(std::max<std::int64_t>(time - base_, 0)) / cpi_ + 1;
    }
    /// The value of Vcpu::instructions at which the processor has used up its share of the epoch.
    std::uint64_t end() const { return end_; }
    /// Whether the processor has executed in this epoch.
    bool ran(std::uint64_t instructions) const { return instructions != begun_at_; }
    /// The processor's expected time at the beginning of the epoch: below 0 if it was behind, above 0 if it
    /// was ahead.
    std::int64_t begun() const { return begun_; }

private:
    /// Each epoch corrects 1/kCorrected of the error of the expected times.
    static constexpr std::int64_t kCorrected = 2;

    /// Computes `end_`. A processor that is far behind executes at most twice the instructions of an epoch.
    void find_end() {
        const std::int64_t left = std::clamp<std::int64_t>(length_ - base_, 0, 2 * length_);
        end_ = length_ == 0 ? kForever : at_ + (static_cast<std::uint64_t>(left) + cpi_ - 1) / cpi_;
    }

    std::int64_t base_ = 0;  ///< expected time when Vcpu::instructions was `at_`
    std::uint64_t at_ = 0;
    std::uint64_t cpi_ = 256;
    std::int64_t length_ = 0;
    std::uint64_t end_ = kForever;
    std::uint64_t begun_at_ = 0;           ///< Vcpu::instructions at the beginning of the epoch
    std::int64_t begun_ = 0;               ///< expected time at the beginning of the epoch
    std::array<std::int64_t, 3> leads_{};  ///< expected_end of the last three epochs, the newest last
};

}  // namespace s80::plugin
