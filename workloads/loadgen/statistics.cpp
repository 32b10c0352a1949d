// SPDX-License-Identifier: GPL-2.0-or-later
#include "statistics.h"

#include <numeric>

namespace s80::loadgen {

void Statistics::begin_region(std::uint64_t now_ns) {
    clear();
    region_.begin_ns = integrated_to_ns_ = now_ns;
}

void Statistics::clear() {
    region_ = Region();
    region_.types.resize(waiting_.size());
    region_.arrivals.resize(waiting_.size());
}

void Statistics::end_region(std::uint64_t now_ns) {
    integrate(now_ns);
    region_.end_ns = now_ns;
}

void Statistics::thought(std::uint64_t ns) {
    ++region_.thinks;
    region_.think_ns += ns;
}

void Statistics::started(TransactionType type, std::uint64_t now_ns) {
    integrate(now_ns);
    ++in_flight_;
    ++region_.types[type].started;
}

void Statistics::ended(TransactionType type, std::uint64_t begin_ns, std::uint64_t now_ns, bool failed,
                       const Traffic& traffic) {
    integrate(now_ns);
    --in_flight_;
    TypeStatistics& statistics = region_.types[type];
    statistics.traffic += traffic;
    if (failed) {
        ++statistics.failed;
    } else {
        ++statistics.count;
        statistics.latency.add(now_ns - begin_ns);
    }
}

void Statistics::incoming(std::uint64_t bytes) {
    ++region_.incoming_messages;
    region_.incoming_bytes += bytes;
}

void Statistics::arrived(std::size_t script, bool queued) {
    ++region_.arrivals[script].count;
    if (!queued) {
        return;
    }
    ++region_.arrivals[script].queued;
    ++waiting_[script];
}

void Statistics::unqueued(std::size_t script, std::uint64_t wait_ns) {
    --waiting_[script];
    ++region_.arrivals[script].unqueued;
    region_.arrivals[script].wait_ns += wait_ns;
}

void Statistics::packet(std::uint64_t bytes, std::optional<std::uint64_t> transit_ns) {
    ++region_.streams.packets;
    region_.streams.bytes += bytes;
    if (transit_ns) {
        region_.streams.transit.add(*transit_ns);
    }
}

void Statistics::streamed(std::uint64_t lost, std::uint64_t late, std::uint64_t jitter_ns) {
    region_.streams.lost += lost;
    region_.streams.late += late;
    region_.streams.jitter.add(jitter_ns);
}

void Statistics::error(ErrorKind kind, const std::string& message) {
    if (all_errors() == 0) {
        first_error_ = message;
    }
    ++errors_[static_cast<std::size_t>(kind)];
}

std::uint64_t Statistics::all_errors() const {
    return std::accumulate(errors_.begin(), errors_.end(), std::uint64_t{0});
}

void Statistics::integrate(std::uint64_t now_ns) {
    region_.in_flight_ns += in_flight_ * (now_ns - integrated_to_ns_);
    integrated_to_ns_ = now_ns;
}

}  // namespace s80::loadgen
