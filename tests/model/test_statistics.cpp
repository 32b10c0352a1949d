// SPDX-License-Identifier: GPL-2.0-or-later
// Identities after a long random access sequence, and the declarations themselves.
#include <set>

#include "small_machine.h"

namespace s80::model {

using StatisticsTest = SmallMachine;

TEST_F(StatisticsTest, IdentitiesCloseAfterRandomAccesses) {
    std::uint64_t random = 1;
    for (int i = 0; i < 200'000; ++i) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const auto line = static_cast<Line>(random >> 8 & 15);
        h.access(static_cast<unsigned>(random % 3), line, static_cast<Kind>(random >> 40 & 3), user);
    }
    EXPECT_GT(sum(Stat::e_to_m), 1000U);
    EXPECT_EQ(sum(Stat::miss_source), sum(Stat::l2_misses));
    EXPECT_EQ(sum(Stat::fills), sum(Stat::l2_misses));
    std::uint64_t entered = 0;
    for (unsigned core = 0; core < 3; ++core) {
        for (unsigned k = 0; k < kKinds; ++k) {
            entered += h.stats().fill(core, static_cast<Kind>(k), StateClass::E);
        }
    }
    EXPECT_EQ(entered, sum(Stat::e_to_m) + sum(Stat::e_downgraded) + sum(Stat::e_evicted) +
                           sum(Stat::e_invalidated) + sum(Stat::e_resident));
    EXPECT_EQ(sum(Stat::stores_found_e), sum(Stat::e_to_m));
    std::uint64_t resident = 0;
    for (unsigned core = 0; core < 3; ++core) {
        for (Line line = 0; line < 16; ++line) {
            resident += state(core, line) == "E" ? 1U : 0U;
        }
    }
    EXPECT_EQ(sum(Stat::e_resident), resident);
}

TEST_F(StatisticsTest, NamesAreUniqueAndDescribed) {
    std::set<std::string> names;
    for (unsigned s = 0; s < kStats; ++s) {
        const StatInfo& i = info(static_cast<Stat>(s));
        EXPECT_TRUE(names.insert(i.name).second) << i.name;
        EXPECT_NE(std::string(i.description), "");
        EXPECT_NE(std::string(i.unit), "");
    }
}

}  // namespace s80::model
