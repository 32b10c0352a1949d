// SPDX-License-Identifier: GPL-2.0-or-later
// The model and the reference side by side: the same accesses, and every difference in words.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "coherence/protocol.h"
#include "hierarchy.h"
#include "memory/hierarchy.h"
#include "stream/epoch.h"

namespace s80::reference {

/// A machine and what its processors do.
struct Case {
    Machine machine;
    std::vector<Access> accesses;
};

/// For RapidCheck's counterexamples: the machine, then one line an access.
void showValue(const Case& c, std::ostream& out);

/// All of them, and the value of the model's machine key l2.inclusion.
inline constexpr Organisation kOrganisations[] = {Organisation::inclusive, Organisation::exclusive_gem5,
                                                  Organisation::exclusive_textbook,
                                                  Organisation::inclusive_gem5};
const char* organisation_name(Organisation organisation);

/// The model's machine of that shape.
model::Machine model_machine(const Machine& machine);
/// The access as the model's recorder would write it.
model::Event event(const Access& access);
/// The model's name of a statistic to the statistic.
model::Stat statistic(const std::string& name);
/// One past the highest line.
std::size_t lines(const Case& c);

/// Plays a case through both. Stalls and the state of the accessed line in every core are compared after each
/// access, every line of every core now and then, and every statistic at the end. Returns the first
/// difference, or what the reference found unsound.
std::optional<std::string> difference(const Case& c, const model::Protocol& protocol, const Table& table);

/// Accesses that `difference` has compared since the program started.
std::uint64_t compared();

}  // namespace s80::reference
