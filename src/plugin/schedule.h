// SPDX-License-Identifier: GPL-2.0-or-later
// When snapshots are due and phases begin, in instructions of all processors since the load began.
#pragma once
#include <cstdint>
#include <limits>

#include "stream/epoch.h"

namespace s80::plugin {

enum class Phase : std::uint64_t { warm_up, measured, done };

class Schedule {
public:
    /// `skip`: instructions before the measured region. `measure`: instructions in it; 0: no region.
    /// `interval`: instructions of a sampling interval. `growth`: if it is not 0, an interval has at least
    /// 1/growth of the instructions before it, so that a long run has few snapshots.
    Schedule(std::uint64_t skip, std::uint64_t measure, std::uint64_t interval, std::uint64_t growth = 0)
        : skip_(skip), measure_(measure), interval_(interval), growth_(growth) {}

    /// The load begins, or a warm checkpoint has been restored. `total`: instructions that all processors
    /// have executed so far.
    void begin(std::uint64_t total) {
        origin_ = total;
        began_ = true;
        last_ = total;
        set_next();
    }
    /// A program's own measured region begins. If this run has neither a load nor a region of the schedule,
    /// sampling intervals begin here. `total`: as of begin().
    void begin_region(std::uint64_t total) {
        if (!began_ && measure_ == 0) {
            begin(total);
        }
    }
    bool began() const { return began_; }
    std::uint64_t origin() const { return origin_; }
    Phase phase() const { return phase_; }
    std::uint64_t index() const { return index_; }

    /// Which snapshot is due at this total; Mark::none: none. If one is due, also moves the schedule on to
    /// the next.
    model::Mark due(std::uint64_t total) {
        if (!began_ || total < next_) {
            return model::Mark::none;
        }
        ++index_;
        last_ = total;
        model::Mark mark = model::Mark::interval;
        if (measure_ != 0 && phase_ == Phase::warm_up && total >= origin_ + skip_) {
            phase_ = Phase::measured;
            measure_began_ = total;
            mark = model::Mark::measure_begin;
        } else if (phase_ == Phase::measured && total >= measure_began_ + measure_) {
            phase_ = Phase::done;
            mark = model::Mark::measure_end;
        }
        set_next();
        return mark;
    }

private:
    void set_next() {
        next_ = last_ + interval_;
        if (growth_ != 0) {
            const std::uint64_t share = (last_ - origin_) / growth_;
            next_ = share < interval_ ? next_ : last_ + share;
        }
        if (measure_ == 0) {
            return;
        }
        if (phase_ == Phase::warm_up) {
            next_ = next_ < origin_ + skip_ ? next_ : origin_ + skip_;
        } else if (phase_ == Phase::measured) {
            const std::uint64_t end = measure_began_ + measure_;
            // A last interval that is shorter than half an interval would say little: the interval before is
            // extended to the region's end.
            next_ = next_ + interval_ / 2 < end ? next_ : end;
        }
    }

    std::uint64_t skip_, measure_, interval_, growth_;
    std::uint64_t origin_ = 0;
    std::uint64_t measure_began_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t next_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t index_ = 0;
    bool began_ = false;
    Phase phase_ = Phase::warm_up;
};

}  // namespace s80::plugin
