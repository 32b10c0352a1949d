// SPDX-License-Identifier: GPL-2.0-or-later
// The compiled model against the naive reference on machines with group caches.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "altered_table.h"
#include "drawn.h"
#include "pair.h"
#include "shipped.h"

namespace s80::reference {
namespace {

constexpr std::size_t kAccesses = 2000;
constexpr int kCases = 20;

/// Every protocol, in front of a bus, a last-level cache, and directories that know every copy or have too
/// few entries.
TEST(GroupDifferential, ModelAndReferenceAgreeOnEveryProtocol) {
    const std::uint64_t before = compared();
    std::set<std::string> tables;  // some of those with a [home] also run on a bus
    for (const bool home : {false, true}) {
        const auto some = shipped_tables(home);
        tables.insert(some.begin(), some.end());
    }
    for (const auto& path : tables) {
        const auto protocol = model::Protocol::load(path);
        const auto table = Table::read(path);
        for (const Organisation organisation : kOrganisations) {
            for (const bool directory : {false, true}) {
                if (directory && !protocol.directory_recalls()) {
                    continue;
                }
                const auto name = table.name + ", L2 " + organisation_name(organisation) +
                                  (directory ? ", bounded directory" : "");
                const Wanted wanted{.organisation = organisation,
                                    .accesses = kAccesses,
                                    .llc = protocol.has_llc(),
                                    .directory = directory,
                                    .groups = true};
                const auto found = counterexample(
                    name, wanted, kCases, [&](const Case& c) { return difference(c, protocol, table); });
                EXPECT_FALSE(found) << name << ": " << *found;
            }
        }
    }
    std::cout << compared() - before << " accesses compared over " << tables.size() << " protocols, seed "
              << seed() << '\n';
}

}  // namespace
}  // namespace s80::reference
