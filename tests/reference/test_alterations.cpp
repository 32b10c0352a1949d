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

bool told_apart(const model::Protocol& altered, const Table& table, bool exclusive) {
    for (int size = 0; size < kCases; ++size) {
        const Case c =
            cases({exclusive, 500})(rc::Random(seed() + static_cast<std::uint64_t>(size)), size).value();
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
    const bool exclusive = false;
    ASSERT_FALSE(told_apart(model::Protocol::load(path), table, exclusive));
    EXPECT_EQ(table.unmet(), std::vector<std::string>());
    unsigned refused = 0;
    unsigned found = 0;
    for (const Alteration& alteration : alterations(path, table)) {
        const auto protocol = loaded(alteration.text);
        if (!protocol) {
            ++refused;
            continue;
        }
        ++found;
        EXPECT_TRUE(told_apart(*protocol, table, exclusive)) << GetParam() << ": " << alteration.what;
    }
    std::cout << GetParam() << ": " << found << " alterations played, " << refused
              << " refused by the loader\n";
    EXPECT_GT(found, 20U);
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& path : shipped_tables()) {
        all.push_back(std::filesystem::path(path).stem().string());
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Alterations, ::testing::ValuesIn(names()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace s80::reference
