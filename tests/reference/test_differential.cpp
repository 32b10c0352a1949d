// SPDX-License-Identifier: GPL-2.0-or-later
// The compiled model against the naive reference: every protocol that ships, every organisation of the L2.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "drawn.h"
#include "pair.h"
#include "shipped.h"

namespace s80::reference {
namespace {

constexpr std::uint64_t kAccessesInAll = 10'000'000;
constexpr std::size_t kAccessesACase = 2000;

TEST(Differential, ModelAndReferenceAgreeOnEveryProtocol) {
    const auto tables = shipped_tables();
    ASSERT_FALSE(tables.empty());
    const auto rounds = std::size(kOrganisations) * tables.size();
    const auto cases = static_cast<int>(kAccessesInAll / kAccessesACase / rounds + 1);
    for (const auto& path : tables) {
        const auto protocol = model::Protocol::load(path);
        const auto table = Table::read(path);
        for (const Organisation organisation : kOrganisations) {
            const auto name = table.name + ", L2 " + organisation_name(organisation);
            const auto found = counterexample(name, {organisation, kAccessesACase}, cases,
                                              [&](const Case& c) { return difference(c, protocol, table); });
            EXPECT_FALSE(found) << name << ": " << *found;
        }
    }
    std::cout << compared() << " accesses compared over " << tables.size() << " protocols, seed " << seed()
              << '\n';
    EXPECT_GE(compared(), kAccessesInAll);
}

}  // namespace
}  // namespace s80::reference
