// SPDX-License-Identifier: GPL-2.0-or-later
// The reference's statistics: a map from (name, indices as docs/reference/interfaces/README.md orders them)
// to a count.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace s80::reference {

enum class Count {
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
    recalls,
    recalled_copies,
    misses_after_recall,
    llc_blocks,
    group_blocks,
};

struct CountInfo {
    Count count;
    const char* name;               ///< as in snapshots.jsonl
    std::vector<unsigned> extents;  ///< of the dimensions after the first, which is the core of most
};

/// home: of a machine with a last-level cache or a directory. groups: of one with group caches.
inline std::vector<CountInfo> all_counts(bool home, bool groups) {
    const unsigned more = groups ? 2 : home ? 1 : 0;  // labels of sources and services
    std::vector<CountInfo> all{
        {Count::l1_misses, "l1_misses", {2, 6, 4}},
        {Count::l2_accesses, "l2_accesses", {2, 6, 4}},
        {Count::l2_misses, "l2_misses", {2, 6, 4}},
        {Count::miss_source, "miss_source", {2, 6, 4, 5 + more}},
        {Count::fills, "fills", {6, 4, 4}},
        {Count::upgrades, "upgrades", {2, 6}},
        {Count::stores_found_e, "stores_found_e", {2, 6}},
        {Count::e_to_m, "e_to_m", {6}},
        {Count::e_downgraded, "e_downgraded", {6}},
        {Count::e_evicted, "e_evicted", {6}},
        {Count::e_invalidated, "e_invalidated", {6}},
        {Count::e_resident, "e_resident", {6}},
        {Count::l2_evictions, "l2_evictions", {}},
        {Count::l2_writebacks, "l2_writebacks", {}},
        {Count::l2_invalidations, "l2_invalidations", {}},
        {Count::interventions, "interventions", {}},
        {Count::stall_cycles, "stall_cycles", {2, 6, 4, 6 + more}},
    };
    if (home) {
        all.push_back({Count::recalls, "recalls", {6}});
        all.push_back({Count::recalled_copies, "recalled_copies", {2, 6}});
        all.push_back({Count::misses_after_recall, "misses_after_recall", {2, 6, 4, 2}});
        all.push_back({Count::llc_blocks, "llc_blocks", {6}});
    }
    if (groups) {
        all.push_back({Count::group_blocks, "group_blocks", {6}});
    }
    return all;
}

/// Indices of the dimensions in the documented order; the unused ones are 0.
using Place = std::array<unsigned, 5>;

class Counts {
public:
    std::uint64_t& at(Count count, const Place& place) { return map_[count][place]; }
    std::uint64_t value(Count count, const Place& place) const {
        const auto all = map_.find(count);
        if (all == map_.end()) {
            return 0;
        }
        const auto one = all->second.find(place);
        return one == all->second.end() ? 0 : one->second;
    }

private:
    std::map<Count, std::map<Place, std::uint64_t>> map_;
};

}  // namespace s80::reference
