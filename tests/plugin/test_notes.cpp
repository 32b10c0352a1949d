// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/notes.h"

#include <gtest/gtest.h>

namespace s80::plugin {

using model::Event;
using model::Kind;

class NotesTest : public testing::Test {
protected:
    NotesTest() {
        stream.events.resize(8);
        vcpu.stream.stream = &stream;
        vcpu.stream.next = stream.events.data();
    }
    void event() { *vcpu.stream.next++ = Event{}; }

    model::Stream stream;
    Vcpu vcpu;
    Notes notes{7};  ///< lines of 128 bytes
};

TEST_F(NotesTest, AnAccessUsesTheWordsThatItTouches) {
    notes.access({0x400000, 7}, 0x1084, 8, Kind::load);
    event();
    notes.put(vcpu);
    EXPECT_EQ(stream.notes[0].pc, 0x400000U);
    EXPECT_EQ(stream.notes[0].address, 0x1084U);
    EXPECT_EQ(stream.notes[0].size, 8U);
    EXPECT_EQ(stream.notes[0].reads, 0b11U) << "it begins in the middle of a word";
    EXPECT_EQ(stream.notes[0].writes, 0U);
    notes.access({0x400000, 7}, 0x10fc, 8, Kind::store);
    event();
    notes.put(vcpu);
    EXPECT_EQ(stream.notes[1].writes, 1U << 15) << "the rest is in the next line";
}

TEST_F(NotesTest, WhatIsNotRecordedAgainStandsBehindItsEvent) {
    notes.access({0, 7}, 0x1000, 8, Kind::load);
    event();
    notes.put(vcpu, 5, 1);
    event();
    notes.again(vcpu, 5, 1, 0x1040, 8, Kind::load);
    notes.again(vcpu, 5, 1, 0x1010, 8, Kind::store);
    notes.again(vcpu, 5, 1, 0x9018, 8, Kind::load);
    notes.again(vcpu, 6, 1, 0x1018, 8, Kind::load);
    notes.again(vcpu, 5, 2, 0x1018, 8, Kind::load);
    EXPECT_EQ(stream.notes[0].reads, 1U << 0 | 1U << 8) << "not those of another line, entry or epoch";
    EXPECT_EQ(stream.notes[0].writes, 1U << 2);
}

TEST_F(NotesTest, AFetchIsOfItsBlockWithTheLinesAddress) {
    notes.fetch(0x55555fc0, 0x12340f80);
    event();
    notes.put(vcpu);
    EXPECT_EQ(stream.notes[0].pc, 0x55555fc0U);
    EXPECT_EQ(stream.notes[0].address, 0x55555f80U);
    notes.fetch(0x55555fc0, 0x98765000);
    event();
    notes.put(vcpu);
    EXPECT_EQ(stream.notes[1].address, 0x55556000U) << "the block goes on in the next page";
}

TEST_F(NotesTest, AWalkIsOfTheAccessThatItIsFor) {
    notes.access({0x400000, 7}, 0x7f0000001000, 8, Kind::store);
    event();
    notes.put_walk(vcpu, 0x3018);
    event();
    notes.put(vcpu);
    EXPECT_EQ(stream.notes[0].address, 0x7f0000001000U);
    EXPECT_EQ(stream.notes[0].reads, 1U << 3);
    EXPECT_EQ(stream.notes[0].writes, 0U);
    EXPECT_EQ(stream.notes[1].writes, 1U << 0);
}

}  // namespace s80::plugin
