// SPDX-License-Identifier: GPL-2.0-or-later
// A resource that services one request at a time, with a constant service time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace s80::model {

/// Processors play up to a quantum ahead of each other, and epochs overlap, so requests do not arrive in the
/// order of their times. The resource is nevertheless busy exactly when it would be with requests in order,
/// and the sum of all waits is the same. A request that arrives late takes the first free time from its own
/// time on, in pieces if necessary. It is charged its own wait, and the delay of requests with later times
/// whose waits were already counted. All times are in one unit, which the caller chooses.
class Queue {
public:
    struct Interval {
        std::int64_t begin, end;
    };

    /// `service`: the service time of a request; positive.
    explicit Queue(std::int64_t service) : service_(service) {}

    /// Services a request with time `when`. Returns the increase of the total wait of all requests.
    std::int64_t serve(std::int64_t when) {
        const auto first = std::ranges::lower_bound(busy_, when, {}, &Interval::end);
        auto next = first;
        Interval mine{when, when};
        if (next != busy_.end() && next->begin <= when) {
            mine = *next++;
        }
        // In the busy interval at `when`, this request waits for the earlier ones, and delays each later one
        // by a service. Together these times are the rest of the interval. The loop adds the delays of later
        // intervals.
        std::int64_t wait = mine.end - when;
        std::int64_t left = service_;
        for (; next != busy_.end() && next->begin - mine.end <= left; ++next) {
            left -= next->begin - mine.end;
            wait += (next->end - next->begin) / service_ * left;
            mine.end = next->end;
        }
        mine.end += left;
        if (first == next) {
            busy_.insert(first, mine);
        } else {
            *first = mine;
            busy_.erase(first + 1, next);
        }
        return wait;
    }

    /// Drops what is no longer needed: no later request has a time before `before`.
    void forget(std::int64_t before) {
        busy_.erase(busy_.begin(), std::ranges::lower_bound(busy_, before, {}, &Interval::end));
    }

    /// The busy intervals that still matter, in order and disjoint.
    const std::vector<Interval>& busy() const { return busy_; }
    void set_busy(std::vector<Interval> busy) { busy_ = std::move(busy); }

private:
    std::int64_t service_;
    std::vector<Interval> busy_;
};

}  // namespace s80::model
