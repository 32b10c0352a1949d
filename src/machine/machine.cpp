// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/machine.h"

#include <bit>
#include <cmath>
#include <utility>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::model {

namespace {

/// A cache of 64 GiB takes as much of the host's memory as one has; beyond it sizes overflow.
constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{64} << 30;
/// A service of a millisecond is a disk's.
constexpr unsigned kMaxService = 1'000'000;
// Cycles of an epoch for which processors that wait for each other were compared with the reference order.
constexpr unsigned kShortestEpoch = 5'000;
constexpr unsigned kLongestEpoch = 50'000;
constexpr unsigned kMaxBanks = 1024;

CacheGeometry geometry(const Keys& keys, const std::string& cache) {
    return {keys.positive(cache + ".size"), keys.number(cache + ".ways")};
}

void check_geometry(const std::string& where, const char* name, const CacheGeometry& g, const Machine& m,
                    unsigned most_ways) {
    const unsigned line_bytes = m.line_bytes;
    if (g.ways == 0 || g.ways > most_ways) {
        throw Error(where + ": " + name + ".ways is " + std::to_string(g.ways) + ", allowed are 1 to " +
                    std::to_string(most_ways));
    }
    if (g.bytes > kMaxCacheBytes) {
        throw Error(where + ": " + name + ".size is " + std::to_string(g.bytes) + " bytes, at most " +
                    std::to_string(kMaxCacheBytes) + " are supported");
    }
    const std::uint64_t sets = g.bytes / (static_cast<std::uint64_t>(g.ways) * line_bytes);
    if (sets * g.ways * line_bytes != g.bytes || !std::has_single_bit(sets)) {
        throw Error(where + ": " + name + " of " + std::to_string(g.bytes) + " bytes, " +
                    std::to_string(g.ways) + " ways and lines of " + std::to_string(line_bytes) +
                    " bytes has no power-of-two number of sets");
    }
    if (const char* const objection = Replacement::objection(m.policy, g.ways)) {
        throw Error(where + ": replacement.policy " + Policies::kNames[static_cast<unsigned>(m.policy)] +
                    " " + objection);
    }
}

/// The table is absent where the processors translate as the guest does.
Translation read_translation(const Keys& keys) {
    Translation t;
    if (!keys.has_table("translation")) {
        return t;
    }
    const auto walks = keys.text("translation.walks");
    if (walks != "x86" && walks != "hashed") {
        throw Error(keys.where() + ": translation.walks is '" + walks + "'; allowed: x86, hashed");
    }
    t.hashed = walks == "hashed";
    t.entries = keys.number("translation.entries");
    t.page_table = keys.positive("translation.page_table");
    return t;
}

/// The table is absent where nothing waits.
Bandwidth read_bandwidth(const Keys& keys) {
    if (!keys.has_table("bandwidth")) {
        return {};
    }
    return {keys.number("bandwidth.bus"), keys.number("bandwidth.memory"), keys.number("bandwidth.banks")};
}

Machine read_machine(Keys keys) {
    Machine m;
    m.name = keys.text("name");
    m.processors = keys.number("processors.count");
    m.threads_per_core = keys.number("processors.threads_per_core");
    m.clock_hz = keys.positive("processors.clock_hz");
    m.line_bytes = keys.number("line_bytes");
    m.l1i = geometry(keys, "l1i");
    m.l1d = geometry(keys, "l1d");
    m.l2 = geometry(keys, "l2");
    m.policy = parse_policy(keys.text("replacement.policy"), keys.where());
    m.latency = {keys.number("latency.l2_hit"), keys.number("latency.memory"), keys.number("latency.cache"),
                 keys.number("latency.upgrade")};
    m.translation = read_translation(keys);
    m.bandwidth = read_bandwidth(keys);
    m.issue_share = keys.has_table("smt") ? keys.real("smt.issue_share") : 1.0;
    m.base_cpi = keys.real("clock.base_cpi");
    m.quantum_cycles = keys.number("clock.quantum_cycles");
    m.filter_instructions = keys.number("clock.filter_instructions");
    m.epoch_cycles = keys.number("clock.epoch_cycles");
    m.l2_inclusion = keys.text("l2.inclusion");
    m.check(keys.where());
    if (m.epoch_cycles < kShortestEpoch || m.epoch_cycles > kLongestEpoch) {
        throw Error(keys.where() + ": clock.epoch_cycles is " + std::to_string(m.epoch_cycles) +
                    ", it must be from " + std::to_string(kShortestEpoch) + " to " +
                    std::to_string(kLongestEpoch) +
                    ": otherwise processors that wait for each other wait wrongly");
    }
    m.keys = std::move(keys);
    return m;
}

}  // namespace

Policy parse_policy(const std::string& word, const std::string& where) {
    return static_cast<Policy>(position(Policies::kNames, word, where, "replacement.policy"));
}

unsigned Machine::line_shift() const {
    return static_cast<unsigned>(std::countr_zero(line_bytes));
}

void Machine::check(const std::string& where) const {
    if (!std::has_single_bit(line_bytes) || line_bytes < 32 || line_bytes > 1024) {
        throw Error(where + ": line_bytes is " + std::to_string(line_bytes) +
                    ", it must be a power of two from 32 to 1024");
    }
    if (threads_per_core == 0 || processors == 0 || processors % threads_per_core != 0) {
        throw Error(where + ": processors.count must be a multiple of processors.threads_per_core");
    }
    if (processors > kMaxCores) {
        const std::string message = where + ": processors.count is " + std::to_string(processors) +
                                    ", at most " + std::to_string(kMaxCores) + " are supported";
        if (processors <= kWideCores) {
            throw TooManyCores(message);
        }
        throw Error(message);
    }
    if (clock_hz == 0 || quantum_cycles == 0 || filter_instructions == 0 || epoch_cycles == 0 ||
        !(base_cpi > 0) || !std::isfinite(base_cpi)) {
        throw Error(where +
                    ": clock_hz, clock.quantum_cycles, clock.filter_instructions, clock.epoch_cycles and "
                    "clock.base_cpi must be "
                    "positive");
    }
    if (!std::has_single_bit(translation.entries) || translation.entries > Translation{}.entries ||
        !std::has_single_bit(translation.page_table) || translation.page_table > kMaxCacheBytes) {
        throw Error(where + ": translation.entries (at most " + std::to_string(Translation{}.entries) +
                    ") and translation.page_table must be powers of two");
    }
    if (!(issue_share > 0 && issue_share <= 1) || (issue_share < 1 && threads_per_core != 2)) {
        throw Error(where +
                    ": smt.issue_share must be above 0 and at most 1; below 1 it needs two threads per core");
    }
    if (bandwidth.bus > kMaxService || bandwidth.memory > kMaxService || bandwidth.banks == 0 ||
        bandwidth.banks > kMaxBanks) {
        throw Error(where + ": bandwidth.bus and bandwidth.memory must be at most " +
                    std::to_string(kMaxService) + " cycles, and bandwidth.banks from 1 to " +
                    std::to_string(kMaxBanks));
    }
    check_geometry(where, "l1i", l1i, *this, kMaxL1Ways);
    check_geometry(where, "l1d", l1d, *this, kMaxL1Ways);
    check_geometry(where, "l2", l2, *this, kMaxWays);
}

Machine Machine::load(const std::string& path) {
    return read_machine(Keys::load(path));
}

Machine Machine::parse(const std::string& text, const std::string& where) {
    return read_machine(Keys::parse(text, where));
}

}  // namespace s80::model
