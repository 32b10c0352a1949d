// SPDX-License-Identifier: GPL-2.0-or-later
// What drives the clients of an open script: passes arrive at exponential intervals, whether a client is free
// or not; one that finds none waits for the first that gets free.
#pragma once

#include <cstdint>
#include <deque>

#include "clock.hpp"
#include "scripts/script.hpp"
#include "statistics.hpp"
#include "task.hpp"
#include "timers.hpp"

namespace s80::loadgen {

class Arrivals {
public:
    /// `number`: of the script among the job's.
    Arrivals(const Clock& clock, Timers& timers, Statistics& statistics, std::size_t number)
        : clock_(clock), timers_(timers), statistics_(statistics), number_(number) {}
    Arrivals(const Arrivals&) = delete;
    Arrivals& operator=(const Arrivals&) = delete;

    /// From now on, at the script's rate, which grows from 0 over its ramp.
    void begin(const Script& script, std::uint64_t seed);
    /// Arms the timer of a client that is free for the moment at which it is to make a pass. Those that are
    /// free are called in turn.
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
