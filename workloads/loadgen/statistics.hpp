// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and times of the region, and the errors of the whole run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "failure.hpp"
#include "histogram.hpp"
#include "transaction_type.hpp"

namespace s80::loadgen {

struct TypeStatistics {
    std::uint64_t count = 0;  // good ones that ended in the region
    std::uint64_t started = 0;
    std::uint64_t failed = 0;
    std::uint64_t substituted = 0;  // drawn as this type, run as another
    std::uint64_t bytes_in = 0;     // application bytes, inside TLS
    std::uint64_t bytes_out = 0;
    Histogram latency;
};

/// What is counted anew when the measured region begins.
struct Region {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::vector<TypeStatistics> types;
    std::uint64_t incoming_messages = 0;
    std::uint64_t incoming_bytes = 0;
    std::uint64_t lost_flags = 0;
    std::uint64_t thinks = 0;
    std::uint64_t think_ns = 0;
    std::uint64_t wake_ups = 0;       // of the load generator, all
    std::uint64_t idle_wake_ups = 0;  // those without a reply
    std::uint64_t tick_changes = 0;   // times that the timers were given another rate
    std::uint64_t in_flight_ns = 0;   // sum over the clients of the time in a transaction
};

class Statistics {
public:
    /// types: how many the protocol has.
    explicit Statistics(std::size_t types) { region_.types.resize(types); }

    void begin_region(std::uint64_t now_ns);
    void end_region(std::uint64_t now_ns);

    void thought(std::uint64_t ns);
    void substituted(TransactionType drawn) { ++region_.types[drawn].substituted; }
    void started(TransactionType type, std::uint64_t now_ns);
    void ended(TransactionType type, std::uint64_t begin_ns, std::uint64_t now_ns, bool failed,
               std::uint64_t bytes_in, std::uint64_t bytes_out);
    void incoming(std::uint64_t bytes);
    /// Errors are never cleared: one in the warm-up fails the run too.
    void error(ErrorKind kind, const std::string& message);

    void woken(bool by_network) {
        ++region_.wake_ups;
        if (!by_network) ++region_.idle_wake_ups;
    }
    void ticks_changed() { ++region_.tick_changes; }

    /// A flag that the server accepted and lost.
    void lost_flag() { ++region_.lost_flags; }

    const Region& region() const { return region_; }
    std::uint64_t errors(std::size_t kind) const { return errors_[kind]; }
    std::uint64_t all_errors() const;
    const std::string& first_error() const { return first_error_; }

private:
    void integrate(std::uint64_t now_ns);

    Region region_;
    std::array<std::uint64_t, error_kinds> errors_{};
    std::string first_error_;
    std::uint64_t in_flight_ = 0;
    std::uint64_t integrated_to_ns_ = 0;
};

}  // namespace s80::loadgen
