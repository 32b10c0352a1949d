// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/machine.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

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
constexpr unsigned kMaxSlices = 1024;
/// A directory with more entries than that for each line of the private caches is never full.
constexpr double kMaxCoverage = 1000;

CacheGeometry geometry(const Keys& keys, const std::string& cache) {
    return {keys.positive(cache + ".size"), keys.number(cache + ".ways")};
}

void check_geometry(const std::string& where, const char* name, const CacheGeometry& g, unsigned line_bytes,
                    Policy policy, unsigned most_ways) {
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
    if (const char* const objection = Replacement::objection(policy, g.ways)) {
        throw Error(where + ": " + name + " has the replacement policy " +
                    Policies::kNames[static_cast<unsigned>(policy)] + ", which " + objection);
    }
}

/// A directory's entries count as lines.
void check_sliced(const std::string& where, const std::string& name, const SlicedGeometry& g,
                  unsigned line_bytes) {
    const bool directory = name == "directory";
    const std::uint64_t lines = g.lines(line_bytes);
    const std::string size = directory ? "directory.entries is " + std::to_string(lines)
                                       : name + ".size is " + std::to_string(g.all.bytes) + " bytes";
    if (g.slices == 0 || g.slices > kMaxSlices) {
        throw Error(where + ": " + name + ".slices is " + std::to_string(g.slices) + ", allowed are 1 to " +
                    std::to_string(kMaxSlices));
    }
    if (lines < std::uint64_t{g.slices} * g.all.ways) {
        throw Error(where + ": " + size + ", less than one set of " + std::to_string(g.all.ways) +
                    " ways in each of " + std::to_string(g.slices) + " slices");
    }
    if (g.all.bytes % g.slices != 0 || g.all.bytes / g.slices % line_bytes != 0) {
        throw Error(where + ": " + size + ", which " + name + ".slices = " + std::to_string(g.slices) +
                    " does not divide");
    }
    check_geometry(where, ("a slice of " + name).c_str(), g.slice(), line_bytes, g.policy, kMaxWays);
}

/// The table is absent on a machine whose home has no such part.
std::optional<SlicedGeometry> read_sliced(const Keys& keys, const std::string& table, std::uint64_t bytes) {
    const auto policy =
        position(Policies::kNames, keys.text(table + ".replacement"), keys.where(), table + ".replacement");
    return SlicedGeometry{
        {bytes, keys.number(table + ".ways")}, keys.number(table + ".slices"), static_cast<Policy>(policy)};
}

/// `directory.entries`: a number, or a multiple of the lines in the private caches such as "1.5x".
std::uint64_t directory_entries(const Keys& keys, const Machine& m) {
    if (!keys.is_text("directory.entries")) {
        return keys.positive("directory.entries");
    }
    const std::string text = keys.text("directory.entries");
    double factor = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, factor, std::chars_format::fixed);
    if (error != std::errc{} || stop + 1 != end || *stop != 'x' || !(factor > 0) || factor > kMaxCoverage) {
        throw Error(keys.where() + ": directory.entries is '" + text +
                    "'; write a number, or a multiple of the lines in the private caches such as 1.5x");
    }
    return static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(m.private_lines())));
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
    if (keys.has_table("llc")) {
        m.llc = read_sliced(keys, "llc", keys.positive("llc.size"));
        m.latency.llc = keys.number("latency.llc");
    }
    m.translation = read_translation(keys);
    m.bandwidth = read_bandwidth(keys);
    m.issue_share = keys.has_table("smt") ? keys.real("smt.issue_share") : 1.0;
    m.base_cpi = keys.real("clock.base_cpi");
    m.quantum_cycles = keys.number("clock.quantum_cycles");
    m.filter_instructions = keys.number("clock.filter_instructions");
    m.epoch_cycles = keys.number("clock.epoch_cycles");
    m.l2_inclusion = keys.text("l2.inclusion");
    if (keys.has_table("directory")) {
        m.directory = read_sliced(keys, "directory", directory_entries(keys, m) * m.line_bytes);
    }
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
    std::vector<std::string> names;
    std::vector<Policy> policies;
    for (unsigned n = 0; n < Policies::kNames.size(); ++n) {
        if (const auto policy = static_cast<Policy>(n); !Replacement::tells_fills(policy)) {
            names.emplace_back(Policies::kNames[n]);
            policies.push_back(policy);
        }
    }
    return policies[position(names, word, where, "replacement.policy")];
}

/// Each organisation but the inclusive one keeps different lines in the L1s and the L2.
std::uint64_t Machine::private_lines() const {
    const std::uint64_t bytes = l2.bytes + (l2_inclusion == "inclusive" ? 0 : l1i.bytes + l1d.bytes);
    return cores() * (bytes / line_bytes);
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
    check_geometry(where, "l1i", l1i, line_bytes, policy, kMaxL1Ways);
    check_geometry(where, "l1d", l1d, line_bytes, policy, kMaxL1Ways);
    check_geometry(where, "l2", l2, line_bytes, policy, kMaxWays);
    for (const auto& [name, g] : {std::pair{"llc", llc}, {"directory", directory}}) {
        if (g) {
            check_sliced(where, name, *g, line_bytes);
        }
    }
}

Machine Machine::load(const std::string& path) {
    return read_machine(Keys::load(path));
}

Machine Machine::parse(const std::string& text, const std::string& where) {
    return read_machine(Keys::parse(text, where));
}

}  // namespace s80::model
