// SPDX-License-Identifier: GPL-2.0-or-later
// What a device that accesses memory does to the caches, under moesi.
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

using Device = SmallMachine;

TEST_F(Device, ReadOfMWritesBackAndLeavesS) {
    given('M');
    h.device_read(X);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(h.stats().core(Stat::l2_writebacks, 0), 1U);
    EXPECT_EQ(sum(Stat::stall_cycles), 0U);
    EXPECT_EQ(load(1, X), kCacheToCache);
    EXPECT_EQ(source(1, Kind::load, Source::S), 1U);
}
TEST_F(Device, AfterAReadTheNextStoreIsSeenByTheL2) {
    given('M');
    store(0, X);  // into the L1D, which may store from now on
    h.device_read(X);
    EXPECT_FALSE(h.caches().l1_writable(0, X));
    store(0, X);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(sum(Stat::upgrades), 1U);
    h.device_read(X);
    EXPECT_EQ(h.stats().core(Stat::l2_writebacks, 0), 2U);
}
TEST_F(Device, ReadOfOLeavesAllInS) {
    given('O');
    h.device_read(X);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(state(1), "S");
    EXPECT_EQ(sum(Stat::l2_writebacks), 1U);
}
TEST_F(Device, ReadOfACleanCopyChangesNothing) {
    for (const char clean : {'E', 'S', 'I'}) {
        given(clean);
        h.device_read(X);
        EXPECT_EQ(state(0), std::string(1, clean));
        EXPECT_EQ(sum(Stat::l2_writebacks), 0U);
        h.device_write(X);
    }
}
TEST_F(Device, WriteLeavesNoCopyAndWritesNothingBack) {
    for (const char any : {'M', 'O', 'E', 'S', 'I'}) {
        given(any);
        h.device_write(X);
        for (unsigned core = 0; core < 3; ++core) {
            EXPECT_EQ(state(core), "I");
            EXPECT_FALSE(h.caches().in_l1(core, X, false));
        }
        EXPECT_EQ(sum(Stat::l2_writebacks), 0U);
        EXPECT_EQ(load(2, X), kMemory);
        h.device_write(X);
    }
}
TEST_F(Device, WriteSettlesTheFateOfABlockThatEnteredInE) {
    given('E');
    h.device_write(X);
    EXPECT_EQ(h.stats().process_class(Stat::e_invalidated, 0, ProcessClass::session), 1U);
}

/// Whatever the protocol, every dirty copy becomes what a load would have filled in, and stays one that it
/// knows.
TEST(DeviceOfAnyProtocol, ReadLeavesNothingDirty) {
    for (const char* name :
         {"msi", "mesi", "mosi", "moesi", "moesi-without-e", "mesif", "hammer", "moesi-dirty-supply"}) {
        Hierarchy h(small_machine(), shipped(name), 1024);
        const Context user{Privilege::user, ProcessClass::session};
        for (const bool shared : {false, true}) {
            h.access(0, 4, Kind::store, user);
            if (shared) {
                h.access(1, 4, Kind::load, user);
            }
            h.device_read(4);
            for (const unsigned core : {0U, 1U}) {
                const State now = h.caches().state(core, 4);
                EXPECT_TRUE(now == h.protocol().invalid() ||
                            !h.protocol().own(OwnEvent::evict, now).writeback)
                    << name;
            }
            h.access(2, 4, Kind::store, user);
            h.device_write(4);
        }
    }
}

class DevicePlayer : public SmallMachine {
protected:
    TimingMerger merger{h};
    Epoch epoch{3};
};

TEST_F(DevicePlayer, NoProcessorWaits) {
    given('M');
    Stream& stream = epoch.streams[1];
    stream.events = {Event{X, 10, 0, Op::device_read, 0, user}, Event{X2, 0, 0, Op::device_write, 0, user}};
    stream.size = stream.events.size();
    stream.ran = stream.runs_on = true;
    stream.tail = 5;
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 15U);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(sum(Stat::l2_misses), 0U);
}

}  // namespace s80::model
