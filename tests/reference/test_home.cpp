// SPDX-License-Identifier: GPL-2.0-or-later
// The compiled model against the naive reference on machines with a last-level cache, a bounded directory, or
// both.
#include <gtest/gtest.h>

#include <iostream>

#include "drawn.h"
#include "pair.h"
#include "shipped.h"

namespace s80::reference {
namespace {

constexpr std::size_t kAccesses = 2000;
constexpr int kCases = 40;

/// Every organisation of the L2, with a directory that knows every copy and with one that has too few
/// entries.
TEST(HomeDifferential, ModelAndReferenceAgreeOnEveryProtocolWithAHome) {
    const auto tables = shipped_tables(true);
    ASSERT_GE(tables.size(), 5U);
    const std::uint64_t before = compared();
    for (const auto& path : tables) {
        const auto protocol = model::Protocol::load(path);
        const auto table = Table::read(path);
        for (const Organisation organisation : kOrganisations) {
            for (const bool directory : {false, true}) {
                if (directory ? !protocol.directory_recalls() : !protocol.has_llc()) {
                    continue;
                }
                const auto name = table.name + ", L2 " + organisation_name(organisation) +
                                  (directory ? ", bounded directory" : "");
                const Wanted wanted{organisation, kAccesses, false, 0, protocol.has_llc(), directory};
                const auto found = counterexample(
                    name, wanted, kCases, [&](const Case& c) { return difference(c, protocol, table); });
                EXPECT_FALSE(found) << name << ": " << *found;
            }
        }
        EXPECT_EQ(table.unmet_at_home(), std::vector<std::string>()) << table.name;
    }
    std::cout << compared() - before << " accesses compared over " << tables.size() << " protocols, seed "
              << seed() << '\n';
}

}  // namespace
}  // namespace s80::reference
