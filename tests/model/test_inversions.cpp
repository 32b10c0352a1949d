// SPDX-License-Identifier: GPL-2.0-or-later
// Accesses that are played against the order of the guest's turns, on hand-made windows.
#include "model/inversions.h"

#include <string>

#include "small_machine.h"
#include "temporary_file.h"

namespace s80::model {

class InversionsTest : public SmallMachine {
protected:
    /// Turn number `turn` of a processor began.
    void turn(unsigned p, std::uint32_t number) { event(p, Op::turn, number, 0); }
    void event(unsigned p, Op op, std::uint32_t line, std::uint16_t delta) {
        Stream& s = window.streams[p];
        s.events.push_back(Event{line, delta, op, 0, user});
        s.size = s.events.size();
        s.ran = s.runs_on = true;
    }
    std::string play() {
        window.mark = Mark::exit;
        player.play(window);
        return file.read();
    }
    static bool says(const std::string& text, const std::string& what) {
        return text.find(what) != std::string::npos;
    }

    test::TemporaryFile file;
    Player player{h};
    Inversions inversions{h, file.path()};
    Window window{3};

    void SetUp() override { player.observe(inversions); }
};

TEST_F(InversionsTest, WhatIsPlayedInTheGuestsOrderIsNotInverted) {
    turn(0, 1);
    event(0, Op::store, X, 10);
    turn(1, 2);
    event(1, Op::load, X, 500);
    const std::string text = play();
    EXPECT_TRUE(says(text, "\"accesses\":2,\"conflicting\":1,\"inverted\":0,")) << text;
    EXPECT_TRUE(says(text, "\"transfers\":{\"cache\":1,\"upgrade\":0}")) << text;
}

TEST_F(InversionsTest, ALoadThatIsPlayedAfterALaterStoreIsInverted) {
    turn(0, 1);
    event(0, Op::load, X, 500);
    turn(1, 2);
    event(1, Op::store, X, 10);
    const std::string text = play();
    EXPECT_TRUE(says(text, "\"inverted\":1,")) << text;
    EXPECT_TRUE(says(text, "\"inverted_transfers\":{\"cache\":1,\"upgrade\":0}")) << text;
    EXPECT_TRUE(says(text, "\"user\":{\"ifetch\":{\"cache\":0,\"upgrade\":0},\"load\":{\"cache\":1,"))
        << text;
}

TEST_F(InversionsTest, AnUpgradeCountsAsOne) {
    load(0, X);
    load(1, X);
    turn(0, 1);
    event(0, Op::store, X, 500);
    turn(1, 2);
    event(1, Op::load, X, 10);
    const std::string text = play();
    EXPECT_TRUE(says(text, "\"inverted_transfers\":{\"cache\":0,\"upgrade\":1}")) << text;
}

TEST_F(InversionsTest, LoadsDoNotConflict) {
    turn(0, 1);
    event(0, Op::load, X, 500);
    turn(1, 2);
    event(1, Op::load, X, 10);
    EXPECT_TRUE(says(play(), "\"conflicting\":0,\"inverted\":0,"));
}

TEST_F(InversionsTest, TheLatestOfSeveralOthersDecides) {
    turn(0, 2);
    event(0, Op::load, X, 1000);
    turn(1, 3);
    event(1, Op::store, X, 10);
    turn(2, 1);
    event(2, Op::store, X, 500);  // inverted itself, and not the latest
    EXPECT_TRUE(says(play(), "\"conflicting\":2,\"inverted\":2,"));
}

TEST_F(InversionsTest, AWindowKnowsNothingOfTheOneBefore) {
    turn(1, 2);
    event(1, Op::store, X, 10);
    player.play(window);
    window = Window{3};
    event(0, Op::load, X, 500);  // in the turn that went on
    EXPECT_TRUE(says(play(), "\"accesses\":2,\"conflicting\":0,"));
}

TEST_F(InversionsTest, OnlyTheMeasuredRegionIsCounted) {
    turn(0, 1);
    event(0, Op::store, X, 10);
    window.mark = Mark::measure_begin;
    player.play(window);
    window = Window{3};
    EXPECT_TRUE(says(play(), "\"accesses\":0,\"conflicting\":0,\"inverted\":0,"));
}

}  // namespace s80::model
