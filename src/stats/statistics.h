// SPDX-License-Identifier: GPL-2.0-or-later
// The statistics of the model, which vocabulary.def declares. Counters only increase; to measure a region,
// readers subtract two snapshots.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::model {

enum class Stat : std::uint8_t {
#define STATISTIC(name, unit, reading, description, ...) name,
#include "stats/vocabulary.def"
#undef STATISTIC
    end
};
inline constexpr auto kStats = static_cast<unsigned>(Stat::end);

enum class Dim : std::uint8_t {
#define DIMENSION(enumerator, name, labels) enumerator,
#include "stats/vocabulary.def"
#undef DIMENSION
    end
};
inline constexpr auto kDims = static_cast<unsigned>(Dim::end);

inline constexpr unsigned kMaxDims = 5;  ///< largest number of dimensions of a statistic

enum class Reading : std::uint8_t { counter, gauge };

struct StatInfo {
    const char* name;
    const char* unit;
    Reading reading;
    const char* description;
    unsigned rank;  ///< number of dimensions that the statistic has
    std::array<Dim, kMaxDims> dim;

    constexpr std::span<const Dim> dims() const { return {dim.data(), rank}; }
};

const StatInfo& info(Stat stat);
const char* dim_name(Dim dim);

/// The dimensions that the statistics have on one machine.
class Dimensions {
public:
    /// `home`: the machine has a last-level cache or a directory. `groups`: it has group caches. Labels,
    /// dimensions and statistics that are only for such machines do not exist otherwise. The label of the
    /// last-level cache stands before that of the group caches, so machines with group caches have both.
    Dimensions(unsigned cores, bool home, bool groups = false);

    std::size_t size(Dim dim) const { return size_[static_cast<unsigned>(dim)]; }
    /// Whether the statistic exists on this machine.
    bool has(const StatInfo& stat) const;
    /// The labels of the dimension, by value. Empty for cores, which have numbers.
    std::span<const std::string_view> labels(Dim dim) const;

private:
    std::array<std::size_t, kDims> size_;
};

/// Describes the statistics as the keys `dims` and `stats` of a JSON object, without its braces: name, unit,
/// dimensions and description of each statistic, and the labels of each dimension that has labels. `between`:
/// text between two dimensions or two statistics.
std::string vocabulary(const Dimensions& dimensions, std::string_view between = ",");

/// A JSON object: for each dimension, how reports name those labels that need other words than the label.
/// `between`: text between two dimensions.
std::string label_texts(std::string_view between);

class Statistics {
public:
    explicit Statistics(const Dimensions& dimensions);

    const Dimensions& dimensions() const { return dimensions_; }
    std::size_t cores() const { return dimensions_.size(Dim::core); }
    std::span<std::uint64_t> values(Stat stat) { return {&all_[offset(stat)], size(stat)}; }
    std::span<const std::uint64_t> values(Stat stat) const { return {&all_[offset(stat)], size(stat)}; }
    std::uint64_t sum(Stat stat) const;

    /// --- frequently used counters, by the statistic's dimensions ---
    std::uint64_t& group(Stat s, unsigned core, Context c) {
        return all_[offset(s) + core * kGroups + c.group()];
    }
    std::uint64_t& kind(Stat s, unsigned core, Context c, Kind k) {
        return all_[offset(s) + by_kind(core, c, k)];
    }
    std::uint64_t& source(unsigned core, Context c, Kind k, Source s) {
        return all_[offset(Stat::miss_source) + by_kind(core, c, k) * sources() + static_cast<unsigned>(s)];
    }
    std::uint64_t& stall(unsigned core, Context c, Kind k, Service s) {
        return all_[offset(Stat::stall_cycles) + by_kind(core, c, k) * services() + static_cast<unsigned>(s)];
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
    // Sums over all cores, by process class and kernel entry cause:
    std::uint64_t& entry(Stat s, Context c) { return all_[offset(s) + c.value]; }
    std::uint64_t& entry_source(Context c, Source s) {
        return all_[offset(Stat::entry_miss_source) + c.value * sources() + static_cast<unsigned>(s)];
    }
    std::uint64_t& entry_stall(Context c, Service s) {
        return all_[offset(Stat::entry_stall_cycles) + c.value * services() + static_cast<unsigned>(s)];
    }

    /// Counts stall cycles of a core, by what it stalled for.
    void stalled(unsigned core, Context c, Kind k, Service s, std::uint64_t cycles) {
        stall(core, c, k, s) += cycles;
        entry_stall(c, s) += cycles;
    }

    // Only on machines with a last-level cache or a directory:
    std::uint64_t& recall(RecallCause cause, ProcessClass t) {
        return all_[offset(Stat::recalls) + static_cast<unsigned>(cause) * kProcessClasses +
                    static_cast<unsigned>(t)];
    }
    std::uint64_t& recalled_copy(unsigned core, RecallCause cause, ProcessClass t) {
        return all_[offset(Stat::recalled_copies) +
                    (core * kRecallCauses + static_cast<unsigned>(cause)) * kProcessClasses +
                    static_cast<unsigned>(t)];
    }
    std::uint64_t& miss_after_recall(unsigned core, Context c, Kind k, RecallCause cause) {
        return all_[offset(Stat::misses_after_recall) + by_kind(core, c, k) * kRecallCauses +
                    static_cast<unsigned>(cause)];
    }
    std::uint64_t& llc_block(LlcEvent event, ProcessClass t) {
        return all_[offset(Stat::llc_blocks) + static_cast<unsigned>(event) * kProcessClasses +
                    static_cast<unsigned>(t)];
    }

    // Only on machines with group caches.
    std::uint64_t& group_block(GroupEvent event, ProcessClass t) {
        return all_[offset(Stat::group_blocks) + static_cast<unsigned>(event) * kProcessClasses +
                    static_cast<unsigned>(t)];
    }
    /// Counts what happens to an agent's copy: for the core, or for the group caches if the agent is one.
    void of_agent(unsigned agent, Stat of_core, GroupEvent of_group, unsigned process_class) {
        if (agent < cores()) [[likely]] {
            ++core(of_core, agent);
        } else {
            ++group_block(of_group, static_cast<ProcessClass>(process_class));
        }
    }

    std::uint64_t& resource(Stat s, Resource r) { return all_[offset(s) + static_cast<unsigned>(r)]; }

    std::vector<std::uint64_t>& all() { return all_; }
    const std::vector<std::uint64_t>& all() const { return all_; }

private:
    static std::size_t by_kind(unsigned core, Context c, Kind k) {
        return (core * kGroups + c.group()) * kKinds + static_cast<unsigned>(k);
    }
    std::size_t sources() const { return dimensions_.size(Dim::source); }
    std::size_t services() const { return dimensions_.size(Dim::service); }
    std::size_t offset(Stat s) const { return offset_[static_cast<unsigned>(s)]; }
    std::size_t size(Stat s) const { return offset_[static_cast<unsigned>(s) + 1] - offset(s); }

    Dimensions dimensions_;
    std::array<std::size_t, kStats + 1> offset_;
    std::vector<std::uint64_t> all_;
};

}  // namespace s80::model
