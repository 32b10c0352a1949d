// SPDX-License-Identifier: GPL-2.0-or-later
// Drives the clients of an open script. Passes arrive at exponential intervals, independent of free clients.
// A pass that finds no free client waits for the first one.
#pragma once

#include <cstdint>
#include <deque>

#include "clock.h"
#include "scripts/script.h"
#include "statistics.h"
#include "task.h"
#include "timers.h"

namespace s80::loadgen {

class Arrivals {
public:
    /// `number`: index of the script in the job.
    Arrivals(const Clock& clock, Timers& timers, Statistics& statistics, std::size_t number)
        : clock_(clock), timers_(timers), statistics_(statistics), number_(number) {}
    Arrivals(const Arrivals&) = delete;
    Arrivals& operator=(const Arrivals&) = delete;

    /// Starts the arrivals at the script's rate, which grows from 0 during its ramp.
    void begin(const Script& script, std::uint64_t seed);
    /// Arms the timer of a free client for the time of its next pass. Free clients are called in turn.
    void await(Timer& free_client);

private:
    Task arrive();
    void arm();

    const Clock& clock_;
    Timers& timers_;
    Statistics& statistics_;
    const std::size_t number_;
    double mean_ns_ = 0;
    double ramp_ns_ = 0;
    std::uint64_t begin_ns_ = 0;
    double due_ns_ = 0;  // of the last arrival
    Random random_;
    Timer timer_;
    Task arrivals_;
    std::deque<Timer*> free_;
    std::deque<std::uint64_t> queue_;  // moments of the arrivals that no client has begun
};

}  // namespace s80::loadgen
