// SPDX-License-Identifier: GPL-2.0-or-later
// The modelled machine, as a resolved machine file describes it (docs/reference/machine-keys.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/core_set.h"
#include "base/key.h"
#include "base/types.h"
#include "cache/geometry.h"
#include "cache/replacement.h"
#include "cache/sliced_geometry.h"
#include "machine/bandwidth.h"
#include "machine/group.h"
#include "machine/keys.h"
#include "machine/latency.h"
#include "machine/translation.h"
#include "stats/statistics.h"

namespace s80::model {

inline constexpr Key kProcessorsKey{
    .name = "processors.count",
    .least = 1,
    .most = kWideCores,
    .text = "hardware threads; a guest boots with as many, and has at most 32"};
inline constexpr Key kThreadsKey{.name = "processors.threads_per_core",
                                 .least = 1,
                                 .most = 32,
                                 .otherwise = 1,
                                 .text = "threads that share a core's caches; count must be a multiple"};
inline constexpr Key kClockHzKey{
    .name = "processors.clock_hz", .least = 1000, .most = 1e12, .unit = "Hz", .text = "clock rate"};
inline constexpr Key kLineKey{.name = "line_bytes",
                              .least = 32,
                              .most = 1024,
                              .power_of_two = true,
                              .unit = "bytes",
                              .text = "size of a cache line"};
/// The timing merger rounds base_cpi, and base_cpi / issue_share, to multiples of 1/256 cycle.
inline constexpr Key kIssueShareKey{
    .name = "smt.issue_share",
    .type = KeyType::real,
    .least = 0.01,
    .most = 1,
    .otherwise = 1,
    .text = "issue slots of a thread while both issue; 1: each issues as if alone"};
inline constexpr Key kBaseCpiKey{.name = "clock.base_cpi",
                                 .type = KeyType::real,
                                 .least = 0.01,
                                 .most = 1'000'000,
                                 .otherwise = 1,
                                 .text = "cycles per instruction without cache stalls"};
inline constexpr Key kQuantumKey{.name = "clock.quantum_cycles",
                                 .least = 1,
                                 .otherwise = 200,
                                 .unit = "cycles",
                                 .text = "how far one core may run ahead of the others"};
inline constexpr Key kFilterKey{
    .name = "clock.filter_instructions",
    .least = 1,
    .otherwise = 1'000,
    .unit = "instructions",
    .text = "filter interval: repeated accesses to one line in it count as L1 hits"};
/// The limits are the lengths that were compared with the reference order (docs/background/clock.md). With
/// other lengths, processors may wait for each other too long or too short.
inline constexpr Key kEpochKey{
    .name = "clock.epoch_cycles",
    .least = 5'000,
    .most = 50'000,
    .otherwise = 20'000,
    .unit = "cycles",
    .text = "length of an epoch, in which each processor executes its share of instructions"};

struct Machine {
    std::string name;
    unsigned processors = 0;  ///< hardware threads of the guest
    unsigned threads_per_core = kThreadsKey.standard<unsigned>();
    std::uint64_t clock_hz = 0;
    unsigned line_bytes = 0;
    CacheGeometry l1i, l1d, l2;
    std::string l2_inclusion = "inclusive";  ///< organisation of the private caches
    Policy policy = kPrivatePolicies[kPolicyKey.standard<std::size_t>()];
    std::optional<Group> group;         ///< group caches
    std::optional<SlicedGeometry> llc;  ///< the shared last-level cache
    /// A directory of bounded size; none: the home knows every copy.
    std::optional<SlicedGeometry> directory;
    Latency latency;
    Translation translation;
    Bandwidth bandwidth;
    /// Issue rate of each of a core's two threads while both issue.
    double issue_share = kIssueShareKey.standard<double>();
    double base_cpi = kBaseCpiKey.standard<double>();
    unsigned quantum_cycles = kQuantumKey.standard<unsigned>();
    unsigned filter_instructions = kFilterKey.standard<unsigned>();  ///< a filter interval (plugin/vcpu.h)
    /// Nominal length of an epoch in cycles.
    unsigned epoch_cycles = kEpochKey.standard<unsigned>();

    Keys keys;  ///< the file, for parts that read keys of their own

    unsigned cores() const { return processors / threads_per_core; }
    Dimensions dimensions() const {
        return {cores(), llc.has_value() || directory.has_value(), group.has_value()};
    }
    /// Agents of the protocol: the cores, and after them the group caches.
    unsigned agents() const { return cores() + (group ? cores() / group->cores : 0); }
    bool is_group_cache(unsigned agent) const { return agent >= cores(); }
    /// The agent that is the group cache of a core. Only if there are group caches.
    unsigned group_cache(unsigned core) const { return cores() + core / group->cores; }
    /// The core itself, or the cores of a group cache.
    CoreSet cores_of(unsigned agent) const;
    unsigned line_shift() const;
    /// Lines that the private caches of all cores and the group caches have room for.
    std::uint64_t private_lines() const;

    /// Reads the resolved file. Throws Error that names file and key.
    static Machine load(const std::string& path);
    /// Reads a machine file from text in memory; `where` names the text in messages.
    static Machine parse(const std::string& text, const std::string& where);
    /// Throws Error if a geometry cannot be built; `where` begins the message.
    void check(const std::string& where) const;
};

}  // namespace s80::model
