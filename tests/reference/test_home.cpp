// SPDX-License-Identifier: GPL-2.0-or-later
// The compiled model against the naive reference on machines with a last-level cache, a bounded directory, or
// both.
#include <gtest/gtest.h>

#include <iostream>

#include "altered_table.h"
#include "drawn.h"
#include "model/temporary_file.h"
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

std::optional<model::Protocol> loaded(const std::string& path) {
    try {
        return model::Protocol::load(path);
    } catch (const model::Error&) {
        return std::nullopt;
    }
}

/// A difference, other than that the altered home turned out to be unsound.
std::optional<std::string> disagreement(const Alteration& alteration, const Wanted& wanted) {
    const test::TemporaryFile file(alteration.text);
    const auto protocol = loaded(file.path());
    if (!protocol) {
        return std::nullopt;
    }
    const Table table = Table::read(file.path());
    for (int size = 0; size < 4; ++size) {
        const Case c = cases(wanted)(rc::Random(seed() + static_cast<std::uint64_t>(size)), size).value();
        const auto found = difference(c, *protocol, table);
        if (found && !found->starts_with("reference: ") && !found->starts_with("model: ")) {
            return alteration.what + ": " + *found;
        }
    }
    return std::nullopt;
}

/// What a user may write is more than what ships.
TEST(HomeAlterations, AreReadAlikeByModelAndReference) {
    for (const auto& path : shipped_tables(true)) {
        const auto protocol = model::Protocol::load(path);
        const Table table = Table::read(path);
        const Wanted wanted{Organisation::inclusive,     500, false, 0, protocol.has_llc(),
                            protocol.directory_recalls()};
        for (int size = 0; size < kCases; ++size) {  // so that the cells are met
            difference(cases(wanted)(rc::Random(seed() + static_cast<std::uint64_t>(size)), size).value(),
                       protocol, table);
        }
        const auto all = home_alterations(path, table);
        EXPECT_GT(all.size(), 20U) << table.name;
        for (const Alteration& alteration : all) {
            const auto found = disagreement(alteration, wanted);
            EXPECT_FALSE(found) << table.name << ": " << *found;
        }
        std::cout << table.name << ": " << all.size() << " alterations of the home\n";
    }
}

}  // namespace
}  // namespace s80::reference
