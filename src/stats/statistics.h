// SPDX-License-Identifier: GPL-2.0-or-later
// The statistics of the model. Name, unit, dimensions and description of each are declared once, in
// statistics.cpp. Counters only grow; readers take snapshots and subtract.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::model {

enum class Stat : std::uint8_t {
    instructions,
    instruction_class,
    accesses,
    l1_misses,
    l2_accesses,
    l2_misses,
    miss_source,
    fills,
    upgrades,
    stores_found_e,
    e_to_m,
    e_downgraded,
    e_evicted,
    e_invalidated,
    e_resident,
    l2_evictions,
    l2_writebacks,
    l2_invalidations,
    interventions,
    stall_cycles,
    busy_cycles,
    transactions,
    slices,
    slice_instructions,
    entry_instructions,
    entry_miss_source,
    entry_upgrades,
    entry_stall_cycles,
    queue_requests,
    queue_busy_cycles,
    queue_wait_cycles,
    epoch_cycles,
    epoch_error_cycles,
    order_waits,
    wait_error_cycles,
    invalidations_sent,
};
inline constexpr unsigned kStats = 36;

enum class Dim : std::uint8_t {
    core,
    privilege,
    process_class,
    entry,
    kind,
    source,
    state,
    service,
    instruction,
    transaction,
    outcome,
    slice_length,
    resource
};
inline constexpr Dim kLastDim = Dim::resource;

inline constexpr unsigned kMaxDims = 5;

struct StatInfo {
    const char* name;
    const char* unit;
    unsigned rank;  ///< dimensions in use
    std::array<Dim, kMaxDims> dim;
    bool gauge;
    const char* description;

    constexpr std::span<const Dim> dims() const { return {dim.data(), rank}; }
};

const StatInfo& info(Stat stat);
const char* dim_name(Dim dim);
/// The labels of a dimension; empty for cores, which are numbered.
std::span<const char* const> labels(Dim dim);

class Statistics {
public:
    explicit Statistics(unsigned cores);

    unsigned cores() const { return cores_; }
    std::span<std::uint64_t> values(Stat stat) { return {&all_[offset(stat)], size(stat)}; }
    std::span<const std::uint64_t> values(Stat stat) const { return {&all_[offset(stat)], size(stat)}; }
    std::uint64_t sum(Stat stat) const;

    /// Frequently used counters, indexed by their dimensions.
    std::uint64_t& group(Stat s, unsigned core, Context c) {
        return all_[offset(s) + core * kGroups + c.group()];
    }
    std::uint64_t& kind(Stat s, unsigned core, Context c, Kind k) {
        return all_[offset(s) + by_kind(core, c, k)];
    }
    std::uint64_t& source(unsigned core, Context c, Kind k, Source s) {
        return all_[offset(Stat::miss_source) + by_kind(core, c, k) * kSources + static_cast<unsigned>(s)];
    }
    std::uint64_t& stall(unsigned core, Context c, Kind k, Service s) {
        return all_[offset(Stat::stall_cycles) + by_kind(core, c, k) * kServices + static_cast<unsigned>(s)];
    }
    std::uint64_t& fill(unsigned core, ProcessClass t, Kind k, StateClass f) {
        return all_[offset(Stat::fills) +
                    ((core * kProcessClasses + static_cast<unsigned>(t)) * kKinds +
                     static_cast<unsigned>(k)) *
                        kStateClasses +
                    static_cast<unsigned>(f)];
    }
    std::uint64_t& process_class(Stat s, unsigned core, ProcessClass t) {
        return all_[offset(s) + core * kProcessClasses + static_cast<unsigned>(t)];
    }
    std::uint64_t& core(Stat s, unsigned core) { return all_[offset(s) + core]; }
    // Of all cores, by class and entry.
    std::uint64_t& entry(Stat s, Context c) { return all_[offset(s) + c.value]; }
    std::uint64_t& entry_source(Context c, Source s) {
        return all_[offset(Stat::entry_miss_source) + c.value * kSources + static_cast<unsigned>(s)];
    }
    std::uint64_t& entry_stall(Context c, Service s) {
        return all_[offset(Stat::entry_stall_cycles) + c.value * kServices + static_cast<unsigned>(s)];
    }

    /// Counts cycles for which a core stalled.
    void stalled(unsigned core, Context c, Kind k, Service s, std::uint64_t cycles) {
        stall(core, c, k, s) += cycles;
        entry_stall(c, s) += cycles;
    }

    std::uint64_t& resource(Stat s, Resource r) { return all_[offset(s) + static_cast<unsigned>(r)]; }

    std::vector<std::uint64_t>& all() { return all_; }
    const std::vector<std::uint64_t>& all() const { return all_; }

private:
    static std::size_t by_kind(unsigned core, Context c, Kind k) {
        return (core * kGroups + c.group()) * kKinds + static_cast<unsigned>(k);
    }
    std::size_t offset(Stat s) const { return offset_[static_cast<unsigned>(s)]; }
    std::size_t size(Stat s) const { return offset_[static_cast<unsigned>(s) + 1] - offset(s); }

    unsigned cores_;
    std::size_t offset_[kStats + 1];
    std::vector<std::uint64_t> all_;
};

}  // namespace s80::model
