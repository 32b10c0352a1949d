// SPDX-License-Identifier: GPL-2.0-or-later
// A short queue of processors, sorted by their clocks: says which processor the timing merger plays next.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/core_set.h"

namespace s80::model {

/// An entry (`turn`) is a time, with the processor's number in its lowest bits. If times are equal, the
/// lowest number comes first. add() searches from the back, because a new entry is nearly always one of the
/// last.
class ClockQueue {
public:
    void clear() {
        begin_ = end_ = 0;
        queue_[0] = kNone;
    }
    bool empty() const { return begin_ == end_; }

    /// Adds a processor whose next turn begins at this time.
    [[gnu::always_inline]] void add(unsigned processor, std::int64_t moment) {
        if (end_ + 1 == queue_.size()) {
            std::copy(queue_.begin() + begin_, queue_.begin() + end_, queue_.begin());
            end_ -= begin_;
            begin_ = 0;
        }
        const std::int64_t turn = moment << kNumberBits | static_cast<std::int64_t>(processor);
        unsigned at = end_;
        for (; at != begin_ && queue_[at - 1] > turn; --at) {
            queue_[at] = queue_[at - 1];
        }
        queue_[at] = turn;
        queue_[++end_] = kNone;
    }

    /// Removes the first entry and returns its processor. The queue must not be empty.
    unsigned take() { return static_cast<unsigned>(queue_[begin_++]) & ((1U << kNumberBits) - 1); }

    /// The time of the first entry; if the queue is empty, a time later than all others.
    std::int64_t next() const { return queue_[begin_] >> kNumberBits; }

private:
    static constexpr unsigned kNumberBits = kCoreBits;
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

    unsigned begin_ = 0;
    unsigned end_ = 0;
    /// Sorted entries from begin_ to end_, followed by kNone.
    std::array<std::int64_t, std::size_t{8} << kNumberBits> queue_{kNone};
};

}  // namespace s80::model
