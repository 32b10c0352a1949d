// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/state_file.h"

#include "small_machine.h"
#include "temporary_file.h"

namespace s80::model {

class StateFile : public SmallMachine {
protected:
    Player player{h};
    test::TemporaryFile file;

    void fill() {
        store(0, X);
        load(1, X);
        fetch(2, Y);
        Player::Clock clock = player.clock();
        clock.cycles = 123456;
        clock.awake_from[2] = 7;
        player.set_clock(clock);
    }
    std::string refusal() {
        Hierarchy other(small_machine(), moesi(), 1024);
        Player fresh(other);
        try {
            load_state(file.path(), other, fresh);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    }
};

TEST_F(StateFile, RestoresCachesClockAndCounters) {
    fill();
    save_state(file.path(), h, player, {1, 2, 3});
    Hierarchy other(small_machine(), moesi(), 1024);
    Player fresh(other);
    EXPECT_EQ(load_state(file.path(), other, fresh), (Extra{1, 2, 3}));
    EXPECT_EQ(other.state(0, X), h.state(0, X));
    EXPECT_EQ(other.stats().all(), h.stats().all());
    EXPECT_EQ(fresh.clock().cycles, 123456U);
    EXPECT_EQ(fresh.clock().awake_from[2], 7);
    // The masks follow from the tags: a third core still finds the owner.
    other.access(2, X, Kind::load, user);
    EXPECT_EQ(other.stats().source(2, user, Kind::load, Source::O), 1U);
}

TEST_F(StateFile, TruncatedIsRefused) {
    fill();
    save_state(file.path(), h, player, {});
    const std::string whole = file.read();
    file.write(whole.substr(0, whole.size() / 2));
    EXPECT_NE(refusal().find("is truncated"), std::string::npos) << refusal();
}

TEST_F(StateFile, OneFlippedBitIsRefused) {
    fill();
    save_state(file.path(), h, player, {});
    std::string whole = file.read();
    whole[whole.size() - 20] = static_cast<char>(whole[whole.size() - 20] ^ 1);
    file.write(whole);
    EXPECT_NE(refusal().find("is corrupt"), std::string::npos) << refusal();
}

TEST_F(StateFile, AnotherGeometryIsRefused) {
    Machine big = small_machine();
    big.l2.bytes *= 2;
    Hierarchy other(big, moesi(), 1024);
    Player fresh(other);
    save_state(file.path(), other, fresh, {});
    EXPECT_NE(refusal().find("is of another machine or protocol"), std::string::npos) << refusal();
}

}  // namespace s80::model
