// SPDX-License-Identifier: GPL-2.0-or-later
// The home that plays a protocol's [home]: a shared last-level cache (LLC), and a directory.
#include "memory/home/directory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "checkpoint/state_file.h"
#include "home_tables.h"
#include "small_machine.h"
#include "temporary_file.h"

namespace s80::model {

namespace {

constexpr unsigned kLlc = 40;
constexpr std::size_t kLines = 64;

Protocol inclusive() {
    return Protocol::load(test::TemporaryFile(test::inclusive_table()).path());
}
Protocol victim() {
    return Protocol::load(test::TemporaryFile(test::victim_table()).path());
}

/// The machine of three cores, with an LLC and a directory. 0 entries: the directory knows every copy.
Machine machine_with(unsigned llc_sets, unsigned llc_ways, unsigned entries = 0, unsigned entry_ways = 1) {
    Machine m = small_machine();
    m.llc = {{std::uint64_t{llc_sets} * llc_ways * m.line_bytes, llc_ways}};
    m.latency.llc = kLlc;
    if (entries != 0) {
        m.directory = {{std::uint64_t{entries} * m.line_bytes, entry_ways}};
    }
    m.check("the test's machine");
    return m;
}

std::string home_state(const Hierarchy& h, Line line) {
    return h.protocol().home_state(*h.home().home_state(line)).name;
}

/// The numbers of lines in LLC and directory by their home states, checked against the copies.
void check_states(const Hierarchy& h) {
    if (!h.home().home_state(0)) {
        return;  // a bus plays the protocol
    }
    unsigned with_data = 0;
    unsigned tracked = 0;
    for (Line line = 0; line < h.lines(); ++line) {
        const HomeStateInfo& info = h.protocol().home_state(*h.home().home_state(line));
        unsigned copies = 0;
        for ([[maybe_unused]] const unsigned core : h.caches().sharers(line)) {
            ++copies;
        }
        RC_ASSERT(info.copies != Copies::none || copies == 0);
        RC_ASSERT(info.copies != Copies::one || copies <= 1);
        with_data += info.data ? 1U : 0U;
        tracked += info.tracked() ? 1U : 0U;
    }
    const Machine& m = h.machine();
    RC_ASSERT(with_data <= (m.llc ? m.llc->lines(m.line_bytes) : 0));
    RC_ASSERT(!m.directory || tracked <= m.directory->lines(m.line_bytes));
}

struct Accesses {
    unsigned core = 0;
    Line line = 0;
    Kind kind = Kind::load;
};

rc::Gen<std::vector<Accesses>> accesses() {
    return rc::gen::container<std::vector<Accesses>>(rc::gen::build<Accesses>(
        rc::gen::set(&Accesses::core, rc::gen::inRange(0U, 3U)),
        rc::gen::set(&Accesses::line, rc::gen::inRange<Line>(0, 24)),
        rc::gen::set(&Accesses::kind, rc::gen::element(Kind::load, Kind::load, Kind::store, Kind::ifetch))));
}

void play(Hierarchy& h, const std::vector<Accesses>& all) {
    const Context who(Privilege::user, ProcessClass::session);
    for (const Accesses& a : all) {
        h.access(a.core, a.line, a.kind, who);
    }
}

struct Design {
    Machine machine;
    Protocol protocol;
};

/// Each shipped protocol with a [home], and those of the tests.
Design drawn_design() {
    static const std::vector<Protocol> protocols{inclusive(),         victim(),
                                                 shipped("mesi-llc"), shipped("mesif-snoop-filter"),
                                                 shipped("chi-slc"),  shipped("moesi-victim"),
                                                 shipped("hammer")};
    const Protocol protocol = *rc::gen::elementOf(protocols);
    const auto ways = *rc::gen::inRange(1U, 4U);
    const auto entry_ways = *rc::gen::inRange(1U, 4U);
    Machine machine = machine_with(1U << *rc::gen::inRange(0U, 3U), ways, 2 * entry_ways, entry_ways);
    machine.llc->policy = *rc::gen::element(Policy::lru, Policy::srrip, Policy::random);
    machine.l2_inclusion = *rc::gen::element("inclusive", "exclusive", "exclusive-textbook");
    if (!protocol.has_llc()) {
        machine.llc.reset();
    }
    if (!protocol.directory_recalls() || *rc::gen::arbitrary<bool>()) {
        machine.directory.reset();
    }
    return {machine, protocol};
}

}  // namespace

class InclusiveLlc : public SmallMachine {
protected:
    std::uint64_t llc(LlcEvent event) { return h.stats().llc_block(event, ProcessClass::session); }
    InclusiveLlc() : SmallMachine(machine_with(1, 2), inclusive()) {}
};

TEST_F(InclusiveLlc, SuppliesALineThatNoCoreHas) {
    store(0, X);
    load(0, X2);
    EXPECT_EQ(load(0, X2), 0U);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(home_state(h, X), "X");
}

TEST_F(InclusiveLlc, ThirdLineRecallsTheFirst) {
    store(0, X);
    load(1, Y);
    EXPECT_EQ(load(2, 7), kMemory);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(home_state(h, X), "N");
    EXPECT_EQ(sum(Stat::recalls), 1U);
    EXPECT_EQ(sum(Stat::recalled_copies), 1U);
    EXPECT_EQ(sum(Stat::l2_writebacks), 1U);
    EXPECT_EQ(llc(LlcEvent::eviction), 1U);
    EXPECT_EQ(sum(Stat::misses_after_recall), 0U);
    const Outcome outcome = h.access(0, X, Kind::load, user);
    EXPECT_TRUE(outcome.after_recall);
    EXPECT_EQ(outcome.place, Place::memory);
    EXPECT_EQ(sum(Stat::misses_after_recall), 1U);
    EXPECT_EQ(sum(Stat::recalls), 2U);  // Y had to leave for X
}

TEST_F(InclusiveLlc, AMissAfterALaterInvalidationOfTheCoreIsNotAfterTheRecall) {
    load(0, X);
    load(1, Y);
    load(2, 7);  // recalls X
    EXPECT_TRUE(h.access(0, X, Kind::load, user).after_recall);
    store(1, X);  // invalidates X in core 0
    EXPECT_FALSE(h.access(0, X, Kind::load, user).after_recall);
}

class LargeLlc : public SmallMachine {
protected:
    std::uint64_t llc(LlcEvent event) { return h.stats().llc_block(event, ProcessClass::session); }
    LargeLlc() : SmallMachine(machine_with(8, 4), inclusive()) {}
};

TEST_F(LargeLlc, IsASourceOfItsOwn) {
    load(0, X);  // E
    load(0, X2);
    load(0, X3);  // X leaves the L2 and stays in the LLC
    EXPECT_EQ(home_state(h, X), "P");
    EXPECT_EQ(load(1, X), kLlc);
    EXPECT_EQ(source(1, Kind::load, Source::llc), 1U);
    EXPECT_EQ(h.stats().stall(1, user, Kind::load, Service::llc), kLlc);
    EXPECT_EQ(state(1), "E");
    EXPECT_EQ(fetch(2, X), kCacheToCache);
    EXPECT_EQ(source(2, Kind::ifetch, Source::E), 1U);
    EXPECT_EQ(home_state(h, X), "SS");
}

TEST_F(LargeLlc, KeepsWrittenDataFromMemory) {
    store(0, X);
    load(0, X2);
    load(0, X3);
    EXPECT_EQ(home_state(h, X), "PD");
    EXPECT_EQ(sum(Stat::l2_writebacks), 1U);
    EXPECT_EQ(llc(LlcEvent::writeback), 0U);
    EXPECT_EQ(load(1, X), kLlc);
    EXPECT_EQ(home_state(h, X), "XD");
}

TEST_F(LargeLlc, AFetchIsGrantedASharedCopy) {
    EXPECT_EQ(fetch(0, X), kMemory);
    EXPECT_EQ(state(0), "S");
}

TEST_F(LargeLlc, ADeviceWriteDropsTheLineEverywhere) {
    store(0, X);
    h.device_write(X);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(home_state(h, X), "N");
    EXPECT_EQ(load(1, X), kMemory);
}

TEST_F(LargeLlc, ADeviceReadLeavesTheWrittenDataInTheLlc) {
    store(0, X);
    h.device_read(X);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(home_state(h, X), "SD");
    h.device_read(Y);
    EXPECT_EQ(home_state(h, Y), "N");
}

TEST(VictimLlc, TakesWhatTheL2Evicts) {
    Hierarchy h(machine_with(4, 2), victim(), kLines);
    const Context user(Privilege::user, ProcessClass::session);
    for (const Line line : {4U, 6U, 8U}) {
        h.access(0, line, Kind::load, user);
    }
    EXPECT_EQ(home_state(h, 4), "P");
    EXPECT_EQ(h.stats().llc_block(LlcEvent::fill, ProcessClass::session), 1U);
    EXPECT_EQ(h.access(1, 4, Kind::load, user).stall, kLlc);
    EXPECT_EQ(home_state(h, 4), "X");
}

TEST(VictimLlc, ARecalledLineGoesToTheLlcIfItIsDirty) {
    Hierarchy h(machine_with(4, 2, 2, 2), victim(), kLines);
    const Context user(Privilege::user, ProcessClass::session);
    h.access(0, 1, Kind::store, user);
    h.access(1, 2, Kind::load, user);
    h.access(2, 3, Kind::load, user);
    EXPECT_EQ(home_state(h, 1), "D");
    EXPECT_EQ(h.stats().recall(RecallCause::directory, ProcessClass::session), 1U);
    h.access(2, 4, Kind::load, user);
    EXPECT_EQ(home_state(h, 2), "N");
    EXPECT_EQ(h.access(0, 1, Kind::load, user).stall, kLlc);
    EXPECT_EQ(h.stats().sum(Stat::misses_after_recall), 1U);
}

RC_GTEST_PROP(Directory, CopiesAndDataAreWhatTheHomeStatesDeclare, ()) {
    const Design d = drawn_design();
    Hierarchy h(d.machine, d.protocol, kLines);
    const Context who(Privilege::user, ProcessClass::session);
    for (const Accesses& a : *accesses()) {
        switch (*rc::gen::inRange(0, 20)) {
            case 0: h.device_read(a.line); break;
            case 1: h.device_write(a.line); break;
            default: h.access(a.core, a.line, a.kind, who);
        }
        check_states(h);
    }
    const Statistics& stats = h.stats();
    RC_ASSERT(stats.sum(Stat::l2_misses) == stats.sum(Stat::miss_source));
    RC_ASSERT(stats.sum(Stat::recalled_copies) >= stats.sum(Stat::misses_after_recall));
    unsigned held = 0;
    for (Line line = 0; line < kLines; ++line) {
        for ([[maybe_unused]] const unsigned core : h.caches().sharers(line)) {
            ++held;
        }
    }
    RC_ASSERT(stats.sum(Stat::fills) ==
              stats.sum(Stat::l2_evictions) + stats.sum(Stat::l2_invalidations) + held);
}

RC_GTEST_PROP(Directory, ARestoredHomeGoesOnLikeTheSavedOne, ()) {
    const Design d = drawn_design();
    Hierarchy saved(d.machine, d.protocol, kLines);
    const auto all = accesses();
    play(saved, *all);
    TimingMerger merger(saved);
    const test::TemporaryFile file("");
    save_state(file.path(), saved, merger, {});
    Hierarchy restored(d.machine, d.protocol, kLines);
    TimingMerger other(restored);
    load_state(file.path(), restored, other);
    for (Line line = 0; line < kLines; ++line) {
        RC_ASSERT(restored.home().home_state(line) == saved.home().home_state(line));
    }
    const auto more = *all;
    play(saved, more);
    play(restored, more);
    RC_ASSERT(restored.stats().all() == saved.stats().all());
    RC_ASSERT(restored.state() == saved.state());
}

TEST(DirectoryState, WordsThatDisagreeAreRefused) {
    Hierarchy h(machine_with(4, 2, 4, 2), victim(), kLines);
    const Context user(Privilege::user, ProcessClass::session);
    for (const Line line : {4U, 6U, 8U, 9U}) {
        h.access(0, line, Kind::store, user);
    }
    const std::vector<std::uint64_t> words = h.home().state();
    EXPECT_TRUE(h.home().set_state(words));
    for (std::size_t n = 0; n < words.size(); ++n) {
        EXPECT_FALSE(h.home().set_state(std::span(words).first(n))) << n;
    }
}

namespace {

std::string refusal(const Machine& machine, const Protocol& protocol) {
    try {
        const Hierarchy h(machine, protocol, kLines);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST(DirectoryFit, MachineAndProtocolMustFit) {
    EXPECT_EQ(refusal(machine_with(4, 2), moesi()),
              "machine small with protocol moesi: the protocol has no [home], which [llc] and [directory] of "
              "a machine "
              "need; choose another protocol, or remove the tables from the machine");
    EXPECT_EQ(
        refusal(machine_with(4, 2), shipped("hammer")),
        "machine small with protocol hammer: no home state of the protocol has data, so it cannot use the "
        "machine's [llc]; choose another protocol, or remove [llc]");
    EXPECT_EQ(refusal(small_machine(), inclusive()),
              "machine small with protocol inclusive: the protocol needs a last-level cache; choose another "
              "protocol, or "
              "add [llc] to the machine");
    EXPECT_EQ(
        refusal(machine_with(4, 2, 4, 2), inclusive()),
        "machine small with protocol inclusive: the protocol has no row [home.recall], so its directory "
        "cannot "
        "have a bounded number of entries; choose another protocol, or remove [directory]");
    EXPECT_EQ(refusal(machine_with(4, 2, 4, 2), victim()), "accepted");
    EXPECT_EQ(refusal(small_machine(), shipped("moesi-victim")), "accepted");
    EXPECT_EQ(refusal(machine_with(4, 2), victim()), "accepted");
}

}  // namespace s80::model
