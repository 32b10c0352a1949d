// SPDX-License-Identifier: GPL-2.0-or-later
// Random cases: tiny machines, and accesses skewed over few lines, so that lines are shared, upgraded and
// evicted.
#pragma once
#include <rapidcheck.h>

#include <optional>
#include <string>

#include "pair.h"

namespace s80::reference {

/// What a drawn case must be; the rest is free.
struct Wanted {
    Organisation organisation = Organisation::inclusive;
    std::size_t accesses = 1000;
    bool roomy = false;  ///< nothing is ever evicted from the L2, or displaced from a last-level cache
    unsigned cores = 0;  ///< 0: drawn, at most 18
    bool llc = false;
    bool directory = false;  ///< of bounded size
    bool groups = false;     ///< group caches
};

/// A case shrinks by leaving accesses out.
rc::Gen<Case> cases(const Wanted& wanted);

/// Holds `law` (nothing, or what broke) for so many drawn cases, the same ones in every run unless S80_SEED
/// is set. Returns nothing, or RapidCheck's report with the shortest case that it found.
std::optional<std::string> counterexample(const std::string& name, const Wanted& wanted, int cases,
                                          const std::function<std::optional<std::string>(const Case&)>& law);

/// S80_SEED, or the number that CI uses.
std::uint64_t seed();

}  // namespace s80::reference
