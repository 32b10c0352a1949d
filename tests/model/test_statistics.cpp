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
        const Context context(static_cast<std::uint8_t>((random >> 20) % kContexts));
        h.access(static_cast<unsigned>(random % 3), line, static_cast<Kind>(random >> 40 & 3), context);
    }
    EXPECT_GT(sum(Stat::e_to_m), 1000U);
    EXPECT_EQ(sum(Stat::miss_source), sum(Stat::l2_misses));
    EXPECT_EQ(sum(Stat::fills), sum(Stat::l2_misses));
    std::uint64_t entered = 0;
    for (unsigned core = 0; core < 3; ++core) {
        for (unsigned t = 0; t < kProcessClasses; ++t) {
            const auto process_class = static_cast<ProcessClass>(t);
            std::uint64_t of_class = 0;
            for (unsigned k = 0; k < kKinds; ++k) {
                of_class += h.stats().fill(core, process_class, static_cast<Kind>(k), StateClass::E);
            }
            std::uint64_t left = 0;
            for (const Stat fate :
                 {Stat::e_to_m, Stat::e_downgraded, Stat::e_evicted, Stat::e_invalidated, Stat::e_resident}) {
                left += h.stats().process_class(fate, core, process_class);
            }
            EXPECT_EQ(of_class, left);
            entered += of_class;
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

TEST_F(StatisticsTest, ABlockBelongsToTheClassThatBroughtItIn) {
    const Context server(ProcessClass::session, KernelEntry::user);
    const Context interrupt(ProcessClass::idle, KernelEntry::interrupt);
    h.access(0, 5, Kind::load, server);
    h.access(0, 5, Kind::store, interrupt);
    EXPECT_EQ(h.stats().process_class(Stat::e_to_m, 0, ProcessClass::session), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_to_m, 0, ProcessClass::idle), 0U);
    EXPECT_EQ(h.stats().group(Stat::stores_found_e, 0, interrupt), 1U);
    EXPECT_EQ(h.stats().group(Stat::stores_found_e, 0, server), 0U);
}

TEST_F(StatisticsTest, EntriesSumToPrivilegeAndClass) {
    const Context call(ProcessClass::session, KernelEntry::system_call);
    const Context tick(ProcessClass::session, KernelEntry::tick);
    const Context own(ProcessClass::session, KernelEntry::user);
    h.access(0, 1, Kind::load, own);
    h.access(0, 2, Kind::load, call);
    h.access(0, 3, Kind::store, tick);
    h.access(1, 3, Kind::load, tick);
    h.access(0, 3, Kind::store, tick);  // an upgrade
    EXPECT_EQ(h.stats().entry_source(own, Source::memory), 1U);
    EXPECT_EQ(h.stats().entry_source(call, Source::memory), 1U);
    EXPECT_EQ(h.stats().entry_source(tick, Source::memory), 1U);
    EXPECT_EQ(h.stats().entry_source(tick, Source::M), 1U);
    EXPECT_EQ(h.stats().entry(Stat::entry_upgrades, tick), 1U);
    EXPECT_EQ(sum(Stat::entry_miss_source), sum(Stat::miss_source));
    EXPECT_EQ(sum(Stat::entry_stall_cycles), sum(Stat::stall_cycles));
    EXPECT_EQ(h.stats().kind(Stat::l2_misses, 0, call, Kind::load), 1U) << "both are kernel code";
    EXPECT_EQ(h.stats().kind(Stat::l2_misses, 0, tick, Kind::load), 1U);
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

TEST(Dimensions, OnlyAMachineWithAHomeHasItsLabelsAndStatistics) {
    const Dimensions without(3, false);
    const Dimensions with(3, true);
    EXPECT_EQ(without.labels(Dim::source).size() + 1, with.labels(Dim::source).size());
    EXPECT_EQ(with.labels(Dim::source).back(), "llc");
    EXPECT_EQ(with.labels(Dim::service).back(), "llc");
    EXPECT_TRUE(with.has(info(Stat::recalls)));
    EXPECT_FALSE(without.has(info(Stat::recalls)));
    EXPECT_TRUE(without.has(info(Stat::miss_source)));
    EXPECT_EQ(vocabulary(without).find("recall"), std::string::npos);
    EXPECT_EQ(vocabulary(without).find("llc"), std::string::npos);
    EXPECT_NE(vocabulary(with).find("misses_after_recall"), std::string::npos);
}

TEST(Labels, AreTheNamesOfTheEnumerators) {
    EXPECT_EQ(label(KernelEntry::user), "user");
    EXPECT_EQ(label(KernelEntry::unknown), "unknown") << "the last name, on another line of the source";
    EXPECT_EQ(label(InstructionClass::branch_conditional), "branch_conditional");
    const Dimensions dimensions(3, false);
    EXPECT_EQ(dimensions.size(Dim::core), 3U);
    EXPECT_TRUE(dimensions.labels(Dim::core).empty());
    EXPECT_EQ(dimensions.labels(Dim::service)[static_cast<unsigned>(Service::order)], "order");
    EXPECT_EQ(dimensions.labels(Dim::state).size(), 4U) << "no block is in the class `none`";
}

}  // namespace s80::model
