// SPDX-License-Identifier: GPL-2.0-or-later
// A resource that serves one request after the other, each for as long.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace s80::model {

/// Processors play up to a quantum ahead of each other, and windows overlap, so requests do not come in the
/// order of their moments. Whatever the order, the resource is busy when one that serves them by their
/// moments would be, and all waits together are as long as there: a request that comes late takes the first
/// time that is free from its own moment on, in pieces if need be, and is charged what it waits and what it
/// delays the requests of later moments that were told their wait already. All times are in one unit,
/// whichever.
class Queue {
public:
    struct Interval {
        std::int64_t begin, end;
    };

    /// `service`: how long a request keeps the resource; positive.
    explicit Queue(std::int64_t service) : service_(service) {}

    /// Serves a request of the moment `when`. Returns by how much the waits of all requests grow.
    std::int64_t serve(std::int64_t when) {
        const auto first = std::ranges::lower_bound(busy_, when, {}, &Interval::end);
        auto next = first;
        Interval mine{when, when};
        if (next != busy_.end() && next->begin <= when) {
            mine = *next++;
        }
        // Up to the end of that busy time: those before it, and each of those behind it for a service.
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

    /// No request comes any more of a moment before this one.
    void forget(std::int64_t before) {
        busy_.erase(busy_.begin(), std::ranges::lower_bound(busy_, before, {}, &Interval::end));
    }

    /// When it is busy, in order, apart from each other; all of it that still matters.
    const std::vector<Interval>& busy() const { return busy_; }
    void set_busy(std::vector<Interval> busy) { busy_ = std::move(busy); }

private:
    std::int64_t service_;
    std::vector<Interval> busy_;
};

}  // namespace s80::model
