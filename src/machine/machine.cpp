// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/machine.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/core_set.h"
#include "base/toml.h"
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

template <class T>
T need(const toml::table& root, const std::string& path, const char* key) {
    const auto value = root.at_path(key).value<T>();
    if (!value) {
        throw Error(path + ": the key " + key + " is missing or of the wrong type");
    }
    return *value;
}

/// A key that is no more than 32 bits wide; a larger number is refused instead of cut.
unsigned need_unsigned(const toml::table& root, const std::string& path, const std::string& key) {
    const auto value = need<std::int64_t>(root, path, key.c_str());
    if (!std::in_range<unsigned>(value)) {
        throw Error(path + ": " + key + " is " + std::to_string(value) + ", allowed are 0 to " +
                    std::to_string(std::numeric_limits<unsigned>::max()));
    }
    return static_cast<unsigned>(value);
}

/// A key of 64 bits that must be positive.
std::uint64_t need_positive(const toml::table& root, const std::string& path, const std::string& key) {
    const auto value = need<std::int64_t>(root, path, key.c_str());
    if (value <= 0) {
        throw Error(path + ": " + key + " is " + std::to_string(value) + ", it must be positive");
    }
    return static_cast<std::uint64_t>(value);
}

CacheGeometry geometry(const toml::table& root, const std::string& path, const std::string& cache) {
    return {need_positive(root, path, cache + ".size"), need_unsigned(root, path, cache + ".ways")};
}

void check_geometry(const std::string& where, const char* name, const CacheGeometry& g, unsigned line_bytes) {
    if (g.ways == 0 || g.ways > kMaxWays) {
        throw Error(where + ": " + name + ".ways is " + std::to_string(g.ways) + ", allowed are 1 to " +
                    std::to_string(kMaxWays));
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
}

/// The table is absent where the processors translate as the guest does.
Translation read_translation(const toml::table& root, const std::string& path) {
    Translation t;
    if (!root.contains("translation")) {
        return t;
    }
    const auto walks = need<std::string>(root, path, "translation.walks");
    if (walks != "x86" && walks != "hashed") {
        throw Error(path + ": translation.walks is '" + walks + "'; allowed: x86, hashed");
    }
    t.hashed = walks == "hashed";
    t.entries = need_unsigned(root, path, "translation.entries");
    t.page_table = need_positive(root, path, "translation.page_table");
    return t;
}

/// The table is absent where nothing waits.
Bandwidth read_bandwidth(const toml::table& root, const std::string& path) {
    if (!root.contains("bandwidth")) {
        return {};
    }
    return {need_unsigned(root, path, "bandwidth.bus"), need_unsigned(root, path, "bandwidth.memory"),
            need_unsigned(root, path, "bandwidth.banks")};
}

Machine read_machine(const toml::table& root, const std::string& path) {
    const auto number = [&](const char* key) { return need_unsigned(root, path, key); };
    Machine m;
    m.name = need<std::string>(root, path, "name");
    m.processors = number("processors.count");
    m.threads_per_core = number("processors.threads_per_core");
    m.clock_hz = need_positive(root, path, "processors.clock_hz");
    m.line_bytes = number("line_bytes");
    m.l1i = geometry(root, path, "l1i");
    m.l1d = geometry(root, path, "l1d");
    m.l2 = geometry(root, path, "l2");
    m.policy = parse_policy(need<std::string>(root, path, "replacement.policy"), path);
    m.latency = {number("latency.l2_hit"), number("latency.memory"), number("latency.cache"),
                 number("latency.upgrade")};
    m.translation = read_translation(root, path);
    m.bandwidth = read_bandwidth(root, path);
    m.issue_share = root.contains("smt") ? need<double>(root, path, "smt.issue_share") : 1.0;
    m.base_cpi = need<double>(root, path, "clock.base_cpi");
    m.quantum_cycles = number("clock.quantum_cycles");
    m.filter_instructions = number("clock.filter_instructions");
    m.epoch_cycles = number("clock.epoch_cycles");
    m.l2_inclusion = parse_inclusion(need<std::string>(root, path, "l2.inclusion"), path + ": l2.inclusion");
    m.check(path);
    if (m.epoch_cycles < kShortestEpoch || m.epoch_cycles > kLongestEpoch) {
        throw Error(path + ": clock.epoch_cycles is " + std::to_string(m.epoch_cycles) +
                    ", it must be from " + std::to_string(kShortestEpoch) + " to " +
                    std::to_string(kLongestEpoch) +
                    ": otherwise processors that wait for each other wait wrongly");
    }
    return m;
}

}  // namespace

Policy parse_policy(const std::string& word, const std::string& where) {
    if (word == "lru") {
        return Policy::lru;
    }
    if (word == "plru") {
        return Policy::plru;
    }
    if (word == "random") {
        return Policy::random;
    }
    throw Error(where + ": replacement.policy is '" + word + "'; allowed: lru, plru, random");
}

Inclusion parse_inclusion(const std::string& word, const std::string& where) {
    if (word == "inclusive") {
        return Inclusion::inclusive;
    }
    if (word == "exclusive") {
        return Inclusion::exclusive;
    }
    throw Error(where + " is '" + word + "'; allowed: inclusive, exclusive");
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
        throw Error(where + ": processors.count is " + std::to_string(processors) + ", at most " +
                    std::to_string(kMaxCores) + " are supported");
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
    check_geometry(where, "l1i", l1i, line_bytes);
    check_geometry(where, "l1d", l1d, line_bytes);
    check_geometry(where, "l2", l2, line_bytes);
    for (const auto* g : {&l1i, &l1d, &l2}) {
        if (policy == Policy::plru && !std::has_single_bit(g->ways)) {
            throw Error(where + ": replacement.policy plru needs a power-of-two number of ways");
        }
    }
}

Machine Machine::load(const std::string& path) {
    return read_machine(parse_toml(path), path);
}

Machine Machine::parse(const std::string& text, const std::string& where) {
    return read_machine(parse_toml_text(text, where), where);
}

}  // namespace s80::model
