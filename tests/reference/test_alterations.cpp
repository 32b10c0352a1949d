// SPDX-License-Identifier: GPL-2.0-or-later
// The comparison can fail: the model with one altered cell is told from the reference with the table as it
// ships.
#include <gtest/gtest.h>

#include <iostream>

#include "altered_table.h"
#include "drawn.h"
#include "model/temporary_file.h"
#include "shipped.h"

namespace s80::reference {
namespace {

constexpr int kCases = 60;

/// What the loader reads; nothing when it refuses the table, which is another way to find a mistake.
std::optional<model::Protocol> loaded(const std::string& text) {
    const test::TemporaryFile file(text);
    try {
        return model::Protocol::load(file.path());
    } catch (const model::Error&) {
        return std::nullopt;
    }
}

bool told_apart(const model::Protocol& altered, const Table& table, Organisation organisation) {
    for (int size = 0; size < kCases; ++size) {
        const Case c =
            cases({organisation, 500})(rc::Random(seed() + static_cast<std::uint64_t>(size)), size).value();
        if (difference(c, altered, table)) {
            return true;
        }
    }
    return false;
}

class Alterations : public ::testing::TestWithParam<std::string> {};

TEST_P(Alterations, OfEveryCellThatIsMetAreFound) {
    const auto path = std::string(S80_PROTOCOLS) + "/" + GetParam() + ".toml";
    const Table table = Table::read(path);
    const auto organisation =
        table.l2_inclusion == "exclusive" ? Organisation::exclusive_gem5 : Organisation::inclusive;
    ASSERT_FALSE(told_apart(model::Protocol::load(path), table, organisation));
    EXPECT_EQ(table.unmet(), std::vector<std::string>());
    unsigned refused = 0;
    unsigned played = 0;
    for (const Alteration& alteration : alterations(path, table)) {
        const auto protocol = loaded(alteration.text);
        if (!protocol) {
            ++refused;
            continue;
        }
        ++played;
        EXPECT_TRUE(told_apart(*protocol, table, organisation)) << GetParam() << ": " << alteration.what;
    }
    std::cout << GetParam() << ": " << played << " alterations played, " << refused
              << " refused by the loader\n";
    EXPECT_GT(played, 20U);
}

TEST(TableReader, RefusesACharacterThatTomlDoesNotKnowBetweenTokens) {
    for (const char* stray : {"\u03a7", "\u00e9", "\u0499", "\u2603"}) {
        EXPECT_FALSE(loaded(std::string(stray) + " = 1\n")) << stray;
        const test::TemporaryFile file(std::string("[own") + stray + "]\n");
        EXPECT_THROW(model::Protocol::load(file.path()), model::Error) << stray;
    }
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& path : shipped_tables()) {
        all.push_back(std::filesystem::path(path).stem().string());
    }
    return all;
}

/// A difference, other than that the altered protocol turned out to be unsound.
std::optional<std::string> disagreement(const Alteration& alteration, Organisation organisation) {
    const test::TemporaryFile file(alteration.text);
    const auto protocol = loaded(alteration.text);
    if (!protocol) {
        return std::nullopt;
    }
    const Table table = Table::read(file.path());
    for (int size = 0; size < 4; ++size) {
        const Case c =
            cases({organisation, 300})(rc::Random(seed() + static_cast<std::uint64_t>(size)), size).value();
        const auto found = difference(c, *protocol, table);
        if (found && !found->starts_with("reference: ") && !found->starts_with("model: ")) {
            return alteration.what + ": " + *found;
        }
    }
    return std::nullopt;
}

/// What a user may write is more than what ships: the model does what an altered table says, as long as that
/// is sound.
TEST_P(Alterations, AreReadAlikeByModelAndReference) {
    const auto path = std::string(S80_PROTOCOLS) + "/" + GetParam() + ".toml";
    const Table table = Table::read(path);
    for (const Organisation organisation : kOrganisations) {
        told_apart(model::Protocol::load(path), table, organisation);  // so that the cells are met
        for (const Alteration& alteration : alterations(path, table)) {
            const auto found = disagreement(alteration, organisation);
            EXPECT_FALSE(found) << GetParam() << ", " << organisation_name(organisation) << ": " << *found;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Alterations, ::testing::ValuesIn(names()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace s80::reference
