// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/arrivals.h"

namespace s80::loadgen {

void Arrivals::begin(const Script& script, std::uint64_t seed) {
    mean_ns_ = static_cast<double>(kNsPerS) / script.rate_per_s;
    ramp_ns_ = script.ramp_s * static_cast<double>(kNsPerS);
    begin_ns_ = clock_.now();
    random_ = Random(seed, ~std::uint64_t{1} - number_);  // the last stream is the external mail server's
    arrivals_ = arrive();
    arrivals_.start();
}

void Arrivals::arm() {
    // From the moment that the last one was due, not from when the clock was looked at: else the rate falls
    // short.
    due_ns_ += random_.exponential(mean_ns_);
    timers_.arm(timer_, static_cast<std::uint64_t>(due_ns_));
}

Task Arrivals::arrive() {
    due_ns_ = static_cast<double>(begin_ns_);
    for (;;) {
        arm();
        co_await timer_;
        // Within the ramp so many are left out that the rate grows with time.
        const double since_ns = due_ns_ - static_cast<double>(begin_ns_);
        if (since_ns < ramp_ns_ && random_.uniform() * ramp_ns_ >= since_ns) {
            continue;
        }
        statistics_.arrived(number_, free_.empty());
        if (free_.empty()) {
            queue_.push_back(static_cast<std::uint64_t>(due_ns_));
        } else {
            timers_.arm(*free_.front(), clock_.now());
            free_.pop_front();
        }
    }
}

void Arrivals::await(Timer& free_client) {
    if (queue_.empty()) {
        free_.push_back(&free_client);
        return;
    }
    statistics_.unqueued(number_, clock_.now() - queue_.front());
    queue_.pop_front();
    timers_.arm(free_client, clock_.now());
}

}  // namespace s80::loadgen
