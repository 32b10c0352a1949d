// SPDX-License-Identifier: GPL-2.0-or-later
// The bus between the caches, and memory in banks behind it, as resources with queues.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "machine/machine.h"
#include "memory/home/queue.h"
#include "stats/statistics.h"

namespace s80::model {

/// Without [bandwidth], bus and memory have unlimited bandwidth: requests never queue and no queue statistics
/// are kept.
class Interconnect {
public:
    explicit Interconnect(const Machine& machine);

    /// Sets the time of further requests, in 1/256 cycle since the model was switched on.
    void now(std::int64_t moment, Statistics& stats) {
        if (!evicted_.empty()) [[unlikely]] {
            write_evicted(stats);
        }
        now_ = moment;
    }
    /// An epoch has ended. Its evicted blocks are written back. No later request has a time before
    /// `before`.
    void forget(std::int64_t before, Statistics& stats);

    /// A request uses the bus. Returns how long it waits for the bus, in cycles.
    unsigned bus(Statistics& stats) { return cycles(wait_for_bus(stats)); }
    /// A request uses the bus, and then the bank of the line, because memory services it. Returns how long it
    /// waits for both, in cycles.
    unsigned bus_and_memory(Statistics& stats, Line line);
    /// Which resources a writeback uses. `bus`: only the bus, to the last-level cache. `memory`: only memory,
    /// from the last-level cache. `both`: from a private cache to memory.
    enum class Way : std::uint8_t { both, bus, memory };
    /// Notes that an evicted block is written back, after the request that evicts it. Nothing waits for the
    /// writeback, but later requests may wait behind it. Reads and writes of devices also use this function.
    void evicted(Line line, Way way = Way::both) {
        if (!bus_.empty() || !banks_.empty()) {
            evicted_.push_back({line, way});
        }
    }
    /// Memory takes over a block while the bus carries it to another cache, so the two share one use of the
    /// bus.
    void copied_to_memory(Statistics& stats, Line line) { wait_for_memory(stats, line, 0); }

    /// Between two epochs: the busy times of all resources, as words for a checkpoint. Empty without
    /// [bandwidth].
    std::vector<std::uint64_t> state() const;
    /// Restores the busy times. Words of a machine with another [bandwidth] are ignored: all resources are
    /// then free. Returns false if the number of words does not match their contents.
    [[nodiscard]] bool set_state(std::span<const std::uint64_t> words);

private:
    static unsigned cycles(std::int64_t wait);
    std::int64_t wait_for_bus(Statistics& stats);
    std::int64_t wait_for_memory(Statistics& stats, Line line, std::int64_t after);
    void write_evicted(Statistics& stats);
    template <class Self, class Fn>
    static void each_queue(Self& self, Fn&& fn) {
        for (auto* queues : {&self.bus_, &self.banks_}) {
            for (auto& queue : *queues) {
                fn(queue);
            }
        }
    }

    Bandwidth bandwidth_;
    std::vector<Queue> bus_;    ///< one queue; empty: the bus has unlimited bandwidth
    std::vector<Queue> banks_;  ///< one queue for each bank; empty: memory has unlimited bandwidth
    struct Evicted {
        Line line;
        Way way;
    };
    std::vector<Evicted> evicted_;
    std::int64_t now_ = 0;
};

}  // namespace s80::model
