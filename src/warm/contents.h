// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of all caches in the form in which two states are compared: the lines of each set with their
// states, the least recently used first, and the lines for which memory assumes sharers. The way in which a
// line stands has no effect under LRU, so it is left out.
#pragma once
#include <string>
#include <vector>

#include "memory/hierarchy.h"

namespace s80::replay {

enum class Place : std::uint8_t { l1i, l1d, l2 };
inline constexpr unsigned kPlaces = 3;
const char* place_name(Place place);
const model::Cache& cache_of(const model::CoreCaches& core, Place place);

struct Copy {
    model::Line line = model::kNoLine;
    model::State state = 0;
    bool operator==(const Copy&) const = default;
};

/// The lines of one set, the least recently used first.
std::vector<Copy> contents(const model::Cache& cache, model::Line set);

/// The number of lines of all cores, by place and state.
struct Census {
    explicit Census(const model::Protocol& protocol) : protocol_(protocol) {}
    void add(unsigned cores, const model::Hierarchy& hierarchy);
    /// {"l2": {"E": 12, ...}, ...}
    std::string json() const;

private:
    const model::Protocol& protocol_;
    std::uint64_t lines_[kPlaces][model::kMaxStates] = {};
};

/// The first difference between the first `cores` cores of two hierarchies, and between their memories, as a
/// sentence; empty: none. All other cores of `made` are spare cores. They must not hold a line of `wanted`.
std::string difference(unsigned cores, const model::Hierarchy& wanted, const model::Hierarchy& made);

}  // namespace s80::replay
