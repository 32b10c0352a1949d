// SPDX-License-Identifier: GPL-2.0-or-later
// The model that is compiled for large machines against the naive reference: 128 and 256 cores.
#include <gtest/gtest.h>

#include <filesystem>

#include "drawn.h"
#include "pair.h"
#include "shipped.h"

namespace s80::reference {
namespace {

constexpr std::size_t kAccesses = 4000;
constexpr int kCases = 4;

void expect_agreement(unsigned cores) {
    const auto tables = shipped_tables();
    ASSERT_FALSE(tables.empty());
    for (const auto& path : tables) {
        const auto protocol = model::Protocol::load(path);
        const auto table = Table::read(path);
        if (protocol.leaves_shared() && cores > model::Sharers::kMostMarkedCores) {
            continue;  // memory has no place to remember sharers
        }
        for (const Organisation organisation : kOrganisations) {
            const auto name = table.name + ", L2 " + organisation_name(organisation);
            const auto found = counterexample(name, {organisation, kAccesses, false, cores}, kCases,
                                              [&](const Case& c) { return difference(c, protocol, table); });
            EXPECT_FALSE(found) << name << ": " << *found;
        }
    }
}

TEST(ManyCores, ModelAndReferenceAgreeOn128Cores) {
    expect_agreement(128);
}

TEST(ManyCores, ModelAndReferenceAgreeOn256Cores) {
    expect_agreement(256);
}

}  // namespace
}  // namespace s80::reference
