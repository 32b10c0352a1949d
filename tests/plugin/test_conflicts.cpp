// SPDX-License-Identifier: GPL-2.0-or-later
// Which accesses of this epoch and of the last one an access conflicts with.
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugin/conflicts.h"
#include "plugin/contended_blocks.h"

namespace s80::plugin {

using model::Line;

namespace {

constexpr Line X = 1000;
constexpr Line Y = 2000;
/// Lines at this distance have one home, as long as the table has its first size.
constexpr Line kSameSet = Line{1} << 21;
constexpr unsigned kNobody = Conflicts::Found::kNobody;

std::string text(const Conflicts::Found& found) {
    std::string all = found.transfers ? "transfers" : found.contended ? "contended" : "nothing";
    if (found.storer != kNobody) {
        all += ", after store " + std::to_string(found.stored_at) + " of " + std::to_string(found.storer);
    }
    for (const unsigned reader : found.readers) {
        all += ", after load of " + std::to_string(reader);
    }
    return all;
}

}  // namespace

/// Knows where each processor's last store to a line is, as a stream does.
class KnownStores final : public StorePositions {
public:
    Conflicts::Found load(unsigned processor, Line line) { return conflicts_.load(processor, line); }
    Conflicts::Found store(unsigned processor, Line line, std::uint32_t at) {
        const Conflicts::Found found = conflicts_.store(processor, line, at);
        stores_[{processor, line}] = at;
        return found;
    }
    /// Events were inserted before the store.
    void moved(unsigned processor, Line line, std::uint32_t at) {
        stores_[{processor, line}] = at;
        conflicts_.moved(line, at);
    }
    void next_epoch() {
        conflicts_.next_epoch();
        stores_.clear();
    }

    std::uint32_t last_store(unsigned processor, Line line) const override {
        return stores_.at({processor, line});
    }

private:
    static constexpr std::size_t kLines = std::size_t{1} << 31;

    std::map<std::pair<unsigned, Line>, std::uint32_t> stores_;
    Conflicts conflicts_{kLines, *this};
};

class ConflictsTest : public ::testing::Test {
protected:
    KnownStores conflicts;

    std::string load(unsigned processor, Line line = X) { return text(conflicts.load(processor, line)); }
    std::string store(unsigned processor, std::uint32_t at, Line line = X) {
        return text(conflicts.store(processor, line, at));
    }
};

TEST_F(ConflictsTest, AFirstAccessConflictsWithNothing) {
    EXPECT_EQ(load(0), "nothing");
    EXPECT_EQ(store(0, 3, Y), "nothing");
}

TEST_F(ConflictsTest, LoadsDoNotConflict) {
    load(0);
    EXPECT_EQ(load(1), "nothing");
    EXPECT_EQ(load(0), "nothing");
}

TEST_F(ConflictsTest, AccessesOfOneProcessorDoNotConflict) {
    load(0);
    EXPECT_EQ(store(0, 3), "nothing");
    EXPECT_EQ(load(0), "nothing");
    EXPECT_EQ(store(0, 4), "nothing");
}

TEST_F(ConflictsTest, OtherLinesDoNotConflict) {
    store(0, 3, X);
    EXPECT_EQ(load(1, Y), "nothing");
    EXPECT_EQ(store(1, 0, X + 1), "nothing");
    EXPECT_EQ(store(1, 0, X + kSameSet), "nothing");
}

TEST_F(ConflictsTest, ALoadConflictsWithTheLastStore) {
    store(0, 3);
    EXPECT_EQ(load(1), "transfers, after store 3 of 0");
    store(2, 5);
    store(0, 9);
    EXPECT_EQ(load(1), "transfers, after store 9 of 0");
}

TEST_F(ConflictsTest, ASecondLoadFindsTheLineContendedOnly) {
    store(0, 3);
    load(1);
    EXPECT_EQ(load(1), "contended");
    EXPECT_EQ(load(2), "transfers, after store 3 of 0") << "each reader has a first load";
}

TEST_F(ConflictsTest, AStoreConflictsWithTheLastStore) {
    store(0, 3);
    EXPECT_EQ(store(1, 7), "transfers, after store 3 of 0");
    EXPECT_EQ(store(0, 8), "transfers, after store 7 of 1");
}

TEST_F(ConflictsTest, AStoreConflictsWithEachReaderSinceTheLastStore) {
    load(3);
    store(0, 3);
    load(1);
    load(31);
    EXPECT_EQ(store(2, 7), "transfers, after store 3 of 0, after load of 1, after load of 31");
    EXPECT_EQ(store(4, 1), "transfers, after store 7 of 2") << "the readers were before that";
}

TEST_F(ConflictsTest, AStoreAfterAnOwnLoadIsAfterTheStoreAlready) {
    store(0, 3);
    load(1);
    load(2);
    EXPECT_EQ(store(1, 7), "transfers, after load of 2");
}

TEST_F(ConflictsTest, AReadModifyWriteOfTheOnlyReaderMovesNothingAgain) {
    store(0, 3);
    EXPECT_EQ(load(1), "transfers, after store 3 of 0");
    EXPECT_EQ(store(1, 7), "contended");
}

TEST_F(ConflictsTest, AStoreOfTheLastEpochTransfersWithoutAnOrder) {
    store(0, 3);
    conflicts.next_epoch();
    EXPECT_EQ(load(1), "transfers");
    EXPECT_EQ(load(1), "contended");
    EXPECT_EQ(store(2, 5), "transfers, after load of 1");
}

TEST_F(ConflictsTest, ALoadOfTheLastEpochTransfersWithoutAnOrder) {
    load(0);
    conflicts.next_epoch();
    EXPECT_EQ(store(1, 4), "transfers");
}

TEST_F(ConflictsTest, AReaderOfBothEpochsIsWaitedForInThisOne) {
    load(0);
    load(1);
    conflicts.next_epoch();
    load(1);
    EXPECT_EQ(store(2, 4), "transfers, after load of 1");
}

TEST_F(ConflictsTest, OlderEpochsAreForgotten) {
    store(0, 3);
    load(1, Y);
    conflicts.next_epoch();
    conflicts.next_epoch();
    EXPECT_EQ(load(1), "nothing");
    EXPECT_EQ(store(0, 3, Y), "nothing");
}

TEST_F(ConflictsTest, AnOldStoreIsForgottenWhereTheLineIsStillRead) {
    store(0, 3);
    for (int epoch = 0; epoch < 3; ++epoch) {
        conflicts.next_epoch();
        load(1);
    }
    EXPECT_EQ(load(1), "nothing");
    EXPECT_EQ(load(2), "nothing");
    EXPECT_EQ(store(0, 4), "transfers, after load of 1, after load of 2");
}

TEST_F(ConflictsTest, AMovedStoreIsAtItsNewPosition) {
    store(0, 3);
    conflicts.moved(0, X, 5);
    EXPECT_EQ(load(1), "transfers, after store 5 of 0");
    store(2, 6);
    conflicts.moved(2, X, 7);
    EXPECT_EQ(load(1), "transfers, after store 7 of 2") << "a line that others use too";
}

TEST_F(ConflictsTest, LinesOfOneSetAreAllRemembered) {
    for (unsigned i = 0; i < 40; ++i) {
        EXPECT_EQ(store(0, i, X + i * kSameSet), "nothing");
    }
    for (unsigned i = 0; i < 40; ++i) {
        EXPECT_EQ(load(1, X + i * kSameSet), "transfers, after store " + std::to_string(i) + " of 0");
    }
}

TEST_F(ConflictsTest, GrowthKeepsReadersAndTheLastEpoch) {
    store(0, 3, X);
    load(1, X);
    conflicts.next_epoch();
    load(2, X);
    for (unsigned i = 1; i < 40; ++i) {
        store(5, i, X + i * kSameSet);
        load(6, X + i * kSameSet);
    }
    EXPECT_EQ(store(4, 0, X), "transfers, after load of 2");
}

TEST_F(ConflictsTest, ManyLinesOfAnEpochAreAllRemembered) {
    constexpr Line kLines = 50'000;
    for (Line line = 0; line < kLines; ++line) {
        conflicts.store(line % 7, line, line);
    }
    for (Line line = 0; line < kLines; ++line) {
        const Conflicts::Found found = conflicts.load(8, line);
        ASSERT_EQ(found.storer, line % 7);
        ASSERT_EQ(found.stored_at, line);
    }
}

TEST_F(ConflictsTest, ForgottenLinesGiveWayWithoutALossOfOthers) {
    constexpr Line kTogether = 4;
    constexpr Line kDistinct = 64;  // forgotten before they come again
    for (unsigned epoch = 0; epoch < 200; ++epoch) {
        const auto line = [epoch](Line i) { return X + (epoch * kTogether + i) % kDistinct * kSameSet; };
        for (Line i = 0; i < kTogether; ++i) {
            EXPECT_EQ(store(0, i, line(i)), "nothing");
        }
        for (Line i = 0; i < kTogether; ++i) {
            EXPECT_EQ(load(1, line(i)), "transfers, after store " + std::to_string(i) + " of 0");
        }
        conflicts.next_epoch();
    }
}

namespace {

/// The same answers from the history of each line.
class NaiveConflicts {
public:
    Conflicts::Found access(unsigned processor, Line line, bool store, std::uint32_t at) {
        std::vector<Access>& history = lines_[line];
        std::erase_if(history, [this](const Access& a) { return !recent(a); });
        const auto last_store =
            std::find_if(history.rbegin(), history.rend(), [](const Access& a) { return a.store; });
        const std::vector<Access> since(last_store.base(), history.end());
        const auto read_since = [&](unsigned who, bool now) {
            return std::any_of(since.begin(), since.end(), [&](const Access& a) {
                return a.processor == who && (!now || a.epoch == epoch_);
            });
        };
        Conflicts::Found found;
        for (unsigned p = 0; store && p < model::kMaxCores; ++p) {
            found.transfers |= p != processor && read_since(p, false);
            if (p != processor && read_since(p, true)) {
                found.readers.add(p);
            }
        }
        if (last_store != history.rend() && last_store->processor != processor) {
            found.contended = true;
            if (!read_since(processor, false)) {
                found.transfers = true;
                if (last_store->epoch == epoch_) {
                    found.storer = last_store->processor;
                    found.stored_at = last_store->at;
                }
            }
        }
        history.push_back({processor, epoch_, store, at});
        return found;
    }
    void next_epoch() { ++epoch_; }

private:
    struct Access {
        unsigned processor = 0;
        unsigned epoch = 0;
        bool store = false;
        std::uint32_t at = 0;
    };
    bool recent(const Access& access) const { return access.epoch + 1 >= epoch_; }

    unsigned epoch_ = 1;
    std::map<Line, std::vector<Access>> lines_;
};

}  // namespace

TEST(Conflicts, AgreeWithTheHistoryOfEachLine) {
    EXPECT_TRUE(rc::check([] {
        KnownStores conflicts;
        NaiveConflicts naive;
        const auto steps = *rc::gen::container<std::vector<std::tuple<unsigned, unsigned, Line, Line>>>(
            rc::gen::tuple(rc::gen::inRange(0U, 10U), rc::gen::inRange(0U, 4U), rc::gen::inRange<Line>(0, 2),
                           rc::gen::inRange<Line>(0, 8)));
        std::uint32_t at = 0;
        for (const auto& [what, processor, low, high] : steps) {
            if (what == 0) {
                conflicts.next_epoch();
                naive.next_epoch();
                continue;
            }
            const Line line = low + high * kSameSet;
            const bool store = what < 5;
            ++at;
            const Conflicts::Found found =
                store ? conflicts.store(processor, line, at) : conflicts.load(processor, line);
            const Conflicts::Found expected = naive.access(processor, line, store, at);
            RC_ASSERT(text(found) == text(expected));
            RC_ASSERT(found.contended == expected.contended);
        }
    }));
}

using Kind = ContendedBlocks::Kind;

TEST(ContendedBlocks, AreRememberedInTheirEpochAndTheNext) {
    ContendedBlocks blocks;
    EXPECT_EQ(blocks.find(7, 1), Kind::none);
    blocks.add(7, 1, true);
    EXPECT_EQ(blocks.find(7, 1), Kind::user);
    EXPECT_EQ(blocks.find(7, 2), Kind::user);
    EXPECT_EQ(blocks.find(7, 3), Kind::none);
    blocks.add(7, 3, false);
    EXPECT_EQ(blocks.find(7, 4), Kind::kernel);
}

/// Blocks differ in their count of instructions and in their line (from bit 16).
TEST(ContendedBlocks, NeighbouringBlocksAreNotTakenForOneAnother) {
    ContendedBlocks blocks;
    blocks.add(0x1234'5678'9abd, 1, true);
    for (unsigned bit = 0; bit < 48; ++bit) {
        EXPECT_EQ(blocks.find(0x1234'5678'9abd ^ std::uint64_t{1} << bit, 1), Kind::none) << bit;
    }
}

}  // namespace s80::plugin
