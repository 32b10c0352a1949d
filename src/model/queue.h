// SPDX-License-Identifier: GPL-2.0-or-later
// A resource that serves one request after the other, each for as long.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace s80::model {

/// Processors play up to a quantum ahead of each other, so requests do not come in the order of their
/// moments: each takes the first time that is free from its own moment on, even before one that came earlier.
/// All times are in one unit, whichever.
class Queue {
public:
    /// `service`: how long a request keeps the resource; positive.
    explicit Queue(std::int64_t service) : service_(service) { busy_.reserve(2 * kRemembered); }

    /// Serves a request that comes at `when`. Returns how long it waits before it is served.
    std::int64_t serve(std::int64_t when) {
        std::size_t at = busy_.size();
        while (at != 0 && busy_[at - 1].end > when) {
            --at;
        }
        std::int64_t begin = when;
        for (; at != busy_.size() && busy_[at].begin < begin + service_; ++at) {
            begin = busy_[at].end;
        }
        book({begin, begin + service_}, at);
        return begin - when;
    }

private:
    struct Interval {
        std::int64_t begin, end;
    };
    /// Busy times that are kept: those of some quanta. What is older lies before every processor's clock.
    static constexpr std::size_t kRemembered = 1024;

    /// `at`: of the first busy time behind it. Times that touch become one, so a queue that never empties is
    /// short.
    void book(Interval mine, std::size_t at) {
        const bool joins_next = at != busy_.size() && busy_[at].begin == mine.end;
        if (at != 0 && busy_[at - 1].end == mine.begin) {
            busy_[at - 1].end = joins_next ? busy_[at].end : mine.end;
            if (joins_next) {
                busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(at));
            }
        } else if (joins_next) {
            busy_[at].begin = mine.begin;
        } else {
            busy_.insert(busy_.begin() + static_cast<std::ptrdiff_t>(at), mine);
        }
        if (busy_.size() == 2 * kRemembered) {
            busy_.erase(busy_.begin(), busy_.begin() + kRemembered);
        }
    }

    std::int64_t service_;
    std::vector<Interval> busy_;  ///< in order, apart from each other
};

}  // namespace s80::model
