// SPDX-License-Identifier: GPL-2.0-or-later
// What lies between the caches and behind them where it can be busy: one bus, and memory in banks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/machine.h"
#include "model/queue.h"
#include "model/statistics.h"
#include "model/types.h"

namespace s80::model {

/// Of a machine without [bandwidth] both serve as many requests at once as come, and nothing waits or is
/// counted.
class Interconnect {
public:
    explicit Interconnect(const Machine& machine);

    /// Requests come at this moment from now on, 1/256 cycle since the model was switched on.
    void now(std::int64_t moment, Statistics& stats) {
        if (!evicted_.empty()) [[unlikely]] {
            write_evicted(stats);
        }
        now_ = moment;
    }
    /// A window has ended: what it evicted is written back, and no request comes any more of a moment before
    /// this one.
    void forget(std::int64_t before, Statistics& stats);

    /// A request goes over the bus: how long it waits, cycles.
    unsigned bus(Statistics& stats) { return cycles(wait_for_bus(stats)); }
    /// The same for one that memory answers: over the bus, then in the line's bank.
    unsigned bus_and_memory(Statistics& stats, Line line);
    /// An evicted block is written back: over the bus to memory, once the request that pushed it out is
    /// served. Nobody waits for it but who comes after it. So it is with what a device reads or writes.
    void evicted(Line line) {
        if (!bus_.empty() || !banks_.empty()) {
            evicted_.push_back(line);
        }
    }
    /// Memory takes a block that goes over the bus to another cache: one request for both.
    void copied_to_memory(Statistics& stats, Line line) { wait_for_memory(stats, line, 0); }

    /// Between two windows: when everything is busy, in words that travel with a checkpoint. None without
    /// [bandwidth].
    std::vector<std::uint64_t> state();
    /// Of a machine of another [bandwidth] they say nothing: then everything is free, as at the beginning.
    /// False where they are not as many as they say.
    [[nodiscard]] bool set_state(std::span<const std::uint64_t> words);

private:
    static unsigned cycles(std::int64_t wait);
    std::int64_t wait_for_bus(Statistics& stats);
    std::int64_t wait_for_memory(Statistics& stats, Line line, std::int64_t after);
    void write_evicted(Statistics& stats);
    template <class Fn>
    void each_queue(Fn&& fn) {
        for (std::vector<Queue>* queues : {&bus_, &banks_}) {
            for (Queue& queue : *queues) {
                fn(queue);
            }
        }
    }

    Bandwidth bandwidth_;
    std::vector<Queue> bus_;    ///< one, or none
    std::vector<Queue> banks_;  ///< of memory, or none
    std::vector<Line> evicted_;
    std::int64_t now_ = 0;
};

}  // namespace s80::model
