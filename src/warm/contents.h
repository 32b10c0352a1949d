// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of all caches, in a form in which two states can be compared: the lines of each set with their
// states, the least recently used first, and the lines for which memory assumes sharers. In which way a line
// is does not matter under LRU, so ways are left out.
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

/// The lines of a set, the least recently used first.
std::vector<Copy> contents(const model::Cache& cache, model::Line set);

/// Counts the lines of all cores by cache and state.
struct Census {
    explicit Census(const model::Protocol& protocol) : protocol_(protocol) {}
    void add(unsigned cores, const model::Hierarchy& hierarchy);
    /// The counts as JSON: {"l2": {"E": 12, ...}, ...}
    std::string json() const;

private:
    const model::Protocol& protocol_;
    std::uint64_t lines_[kPlaces][model::kMaxStates] = {};
};

/// Compares the first `cores` cores and the memories of two hierarchies. Returns the first difference as a
/// sentence; empty: there is none. Further cores of `made` are spare cores, which must not hold a line of
/// `wanted`.
std::string difference(unsigned cores, const model::Hierarchy& wanted, const model::Hierarchy& made);

}  // namespace s80::replay
