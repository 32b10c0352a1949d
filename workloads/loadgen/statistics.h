// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and times of the region, and the errors of the whole run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "failure.h"
#include "histogram.h"
#include "traffic.h"
#include "transaction_type.h"

namespace s80::loadgen {

struct TypeStatistics {
    std::uint64_t count = 0;  // good ones that ended in the region
    std::uint64_t started = 0;
    std::uint64_t failed = 0;
    std::uint64_t substituted = 0;  // drawn as this type, run as another
    Traffic traffic;
    Histogram latency;
};

/// A command of a script: protocol, name, and the size of its message, or 0.
using CommandName = std::tuple<std::string_view, std::string, std::size_t>;

/// The passes of an open script.
struct ArrivalStatistics {
    std::uint64_t count = 0;
    std::uint64_t queued = 0;    // those that found no client free
    std::uint64_t unqueued = 0;  // those that waited and were begun
    std::uint64_t wait_ns = 0;   // of these
};

/// Counts of the received media streams.
struct StreamStatistics {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // of media, without headers
    std::uint64_t lost = 0;
    std::uint64_t late = 0;
    Histogram transit;  // by how much the transit times of neighbouring packets differ
    Histogram jitter;   // each client's estimate at the end of each of its streams
};

/// Counts that restart when the measured region begins.
struct Region {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::vector<TypeStatistics> types;
    std::map<CommandName, Histogram> commands;  // good ones, of scripts
    std::vector<ArrivalStatistics> arrivals;    // by script
    StreamStatistics streams;
    std::uint64_t incoming_messages = 0;
    std::uint64_t incoming_bytes = 0;
    std::uint64_t lost_flags = 0;
    std::uint64_t thinks = 0;
    std::uint64_t think_ns = 0;
    std::uint64_t wake_ups = 0;       // of the load generator, all
    std::uint64_t idle_wake_ups = 0;  // those without a reply
    std::uint64_t in_flight_ns = 0;   // sum over the clients of the time in a transaction
};

class Statistics {
public:
    /// types: the number of the protocol's transaction types.
    explicit Statistics(std::size_t types) : waiting_(types) { clear(); }

    void begin_region(std::uint64_t now_ns);
    void end_region(std::uint64_t now_ns);

    void thought(std::uint64_t ns);
    void substituted(TransactionType drawn) { ++region_.types[drawn].substituted; }
    void started(TransactionType type, std::uint64_t now_ns);
    void ended(TransactionType type, std::uint64_t begin_ns, std::uint64_t now_ns, bool failed,
               const Traffic& traffic);
    void incoming(std::uint64_t bytes);
    /// Records a successfully answered command of a script.
    void answered(const CommandName& command, std::uint64_t ns) { region_.commands[command].add(ns); }
    void arrived(std::size_t script, bool queued);
    /// A pass begins that had to wait for a client.
    void unqueued(std::size_t script, std::uint64_t wait_ns);
    /// The number of passes that wait for a client now.
    std::uint64_t waiting(std::size_t script) const { return waiting_[script]; }
    /// A packet of a stream arrived. transit_ns: how much its transit time differs from the packet before.
    void packet(std::uint64_t bytes, std::optional<std::uint64_t> transit_ns);
    /// A stream has ended.
    void streamed(std::uint64_t lost, std::uint64_t late, std::uint64_t jitter_ns);
    /// Errors are never cleared: an error in the warm-up also fails the run.
    void error(ErrorKind kind, const std::string& message);

    void woken(bool by_network) {
        ++region_.wake_ups;
        if (!by_network) {
            ++region_.idle_wake_ups;
        }
    }

    /// The server accepted a flag and then lost it.
    void lost_flag() { ++region_.lost_flags; }

    const Region& region() const { return region_; }
    std::uint64_t errors(std::size_t kind) const { return errors_[kind]; }
    std::uint64_t all_errors() const;
    const std::string& first_error() const { return first_error_; }

private:
    void clear();
    void integrate(std::uint64_t now_ns);

    Region region_;
    std::array<std::uint64_t, kErrorKinds> errors_{};
    std::string first_error_;
    std::uint64_t in_flight_ = 0;
    std::vector<std::uint64_t> waiting_;
    std::uint64_t integrated_to_ns_ = 0;
};

}  // namespace s80::loadgen
