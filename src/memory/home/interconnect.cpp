// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/home/interconnect.h"

#include <utility>

namespace s80::model {

namespace {

constexpr std::int64_t kUnit = 256;

/// Counts a request to a resource: its wait (1/256 cycle) and its service time (cycles). Returns the wait.
std::int64_t counted(Statistics& stats, Resource resource, std::int64_t wait, unsigned service) {
    ++stats.resource(Stat::queue_requests, resource);
    stats.resource(Stat::queue_busy_cycles, resource) += service;
    stats.resource(Stat::queue_wait_cycles, resource) +=
        static_cast<std::uint64_t>((wait + kUnit - 1) / kUnit);
    return wait;
}

}  // namespace

Interconnect::Interconnect(const Machine& machine)
    : bandwidth_(machine.bandwidth),
      bus_(bandwidth_.bus != 0 ? 1 : 0, Queue(bandwidth_.bus * kUnit)),
      banks_(bandwidth_.memory != 0 ? bandwidth_.banks : 0, Queue(bandwidth_.memory * kUnit)) {}

unsigned Interconnect::bus_and_memory(Statistics& stats, Line line) {
    const std::int64_t wait = wait_for_bus(stats);
    return cycles(wait + wait_for_memory(stats, line, wait));
}

/// Converts a wait to cycles, rounded up, because a processor continues at a whole cycle.
unsigned Interconnect::cycles(std::int64_t wait) {
    return static_cast<unsigned>((wait + kUnit - 1) / kUnit);
}

std::int64_t Interconnect::wait_for_bus(Statistics& stats) {
    return bus_.empty() ? 0 : counted(stats, Resource::bus, bus_.front().serve(now_), bandwidth_.bus);
}

std::int64_t Interconnect::wait_for_memory(Statistics& stats, Line line, std::int64_t after) {
    if (banks_.empty()) {
        return 0;
    }
    Queue& bank = banks_[line % banks_.size()];
    return counted(stats, Resource::memory, bank.serve(now_ + after), bandwidth_.memory);
}

void Interconnect::forget(std::int64_t before, Statistics& stats) {
    write_evicted(stats);
    each_queue(*this, [&](Queue& queue) { queue.forget(before); });
}

/// The words: service times of bus and memory, number of banks; then, for each queue, the number of busy
/// intervals, and the begin and end of each.
std::vector<std::uint64_t> Interconnect::state() const {
    std::vector<std::uint64_t> words;
    if (bus_.empty() && banks_.empty()) {
        return words;
    }
    words = {bandwidth_.bus, bandwidth_.memory, bandwidth_.banks};
    each_queue(*this, [&](const Queue& queue) {
        words.push_back(queue.busy().size());
        for (const auto& [begin, end] : queue.busy()) {
            words.push_back(static_cast<std::uint64_t>(begin));
            words.push_back(static_cast<std::uint64_t>(end));
        }
    });
    return words;
}

bool Interconnect::set_state(std::span<const std::uint64_t> words) {
    const bool mine = words.size() >= 3 && words[0] == bandwidth_.bus && words[1] == bandwidth_.memory &&
                      words[2] == bandwidth_.banks;
    auto rest = words.subspan(mine ? 3 : words.size());
    bool whole = true;
    each_queue(*this, [&](Queue& queue) {
        std::vector<Queue::Interval> busy;
        if (mine) {
            whole = whole && !rest.empty() && rest[0] <= (rest.size() - 1) / 2;
            busy.resize(whole ? rest[0] : 0);
            for (std::size_t n = 0; n < busy.size(); ++n) {
                busy[n] = {static_cast<std::int64_t>(rest[2 * n + 1]),
                           static_cast<std::int64_t>(rest[2 * n + 2])};
            }
            rest = rest.subspan(whole ? 2 * busy.size() + 1 : 0);
        }
        queue.set_busy(std::move(busy));
    });
    return whole && rest.empty();
}

void Interconnect::write_evicted(Statistics& stats) {
    for (const auto& [line, way] : evicted_) {
        const std::int64_t wait = way == Way::memory ? 0 : wait_for_bus(stats);
        if (way != Way::bus) {
            wait_for_memory(stats, line, wait);
        }
    }
    evicted_.clear();
}

}  // namespace s80::model
