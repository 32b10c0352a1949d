// SPDX-License-Identifier: GPL-2.0-or-later
// A processor's expected time in the present epoch, and its share of the epoch (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace s80::plugin {

/// The time of a processor, as the recording side knows it, and up to which instruction the processor may
/// execute in this epoch. Times are in 1/256 cycle since the epoch began. `instructions` is always the
/// processor's count since the start (Vcpu::instructions).
///
/// ExpectedTime calls begin_epoch() once per epoch. AccessOrder calls spend() for a stall by a conflict, and
/// SliceScheduler calls set() where the processor wakes.
class Share {
public:
    static constexpr std::uint64_t kForever = ~std::uint64_t{0};

    /// An epoch begins. `expected_end`: the time, from now, at which the last epoch ended on this processor.
    /// `known`: the true value of this time for the epoch that ended two epochs before the last one. `cpi`:
    /// 1/256 cycle per instruction without the stalls that are spent. `length`: of the epoch; 0: the clock
    /// does not run.
    void begin_epoch(std::uint64_t instructions, std::int64_t expected_end, std::int64_t known,
                     std::uint64_t cpi, std::int64_t length) {
        if (length_ == 0) {
            leads_.fill(known);
            expected_end = known;
        }
        leads_ = {leads_[1], leads_[2], expected_end};
        // The later expected times contain the same error: all of them are corrected.
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
    /// The processor is at this time.
    void set(std::uint64_t instructions, std::int64_t time) {
        at_ = instructions;
        base_ = time;
        find_end();
    }
    /// The processor stalls for so long.
    void spend(std::int64_t time) {
        base_ += time;
        find_end();
    }
    std::int64_t time(std::uint64_t instructions) const {
        return base_ + static_cast<std::int64_t>((instructions - at_) * cpi_);
    }
    /// Count of instructions at which the processor has passed this time, which is not before its own.
    std::uint64_t reaches(std::int64_t time) const {
        return at_ + static_cast<std::uint64_t>(std::max<std::int64_t>(time - base_, 0)) / cpi_ + 1;
    }
    /// Count of instructions at which the share is used up.
    std::uint64_t end() const { return end_; }
    /// Whether the processor has executed in this epoch.
    bool ran(std::uint64_t instructions) const { return instructions != begun_at_; }
    /// The time at which the processor began the epoch.
    std::int64_t begun() const { return begun_; }

private:
    /// Each epoch corrects one part in so many of the error of the expected times.
    static constexpr std::int64_t kCorrected = 2;

    /// Computes end_. A processor that is far behind gets at most twice the instructions of an epoch.
    void find_end() {
        const std::int64_t left = std::clamp<std::int64_t>(length_ - base_, 0, 2 * length_);
        end_ = length_ == 0 ? kForever : at_ + (static_cast<std::uint64_t>(left) + cpi_ - 1) / cpi_;
    }

    std::int64_t base_ = 0;  ///< the time at which the count of instructions was `at_`
    std::uint64_t at_ = 0;
    std::uint64_t cpi_ = 256;
    std::int64_t length_ = 0;
    std::uint64_t end_ = kForever;
    std::uint64_t begun_at_ = 0;           ///< count of instructions at which the epoch began
    std::int64_t begun_ = 0;               ///< time at which the epoch began
    std::array<std::int64_t, 3> leads_{};  ///< expected ends of the last three epochs
};

}  // namespace s80::plugin
