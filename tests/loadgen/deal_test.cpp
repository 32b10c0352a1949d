// SPDX-License-Identifier: GPL-2.0-or-later
#include "deal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace s80::loadgen {
namespace {

constexpr unsigned kClients = 48;
constexpr int kRegion = 200;  // transactions
constexpr std::uint64_t kSeeds = 2000;

// Three types: the first mostly goes on to the second, and so on.
const std::vector<Weights> chain = {{10, 60, 30}, {50, 20, 30}, {70, 10, 20}};

struct Drawn {
    TransactionType type;
    double think;
    double amount;
};

/// Clients that come in random order, from somewhere within the load on.
class Region {
public:
    explicit Region(std::uint64_t seed) : deal_(Mix(chain), seed), order_(seed, 1) {
        for (unsigned client = 0; client < kClients; ++client) {
            now_.push_back(deal_.first());
        }
        for (std::size_t i = order_.below(500); i > 0; --i) {
            next();
        }
    }

    Drawn next() {
        TransactionType& now = now_[order_.below(kClients)];
        now = deal_.next(now);
        return {now, deal_.think(), deal_.amount(now)};
    }

private:
    Deal deal_;
    Random order_;
    std::vector<TransactionType> now_;
};

/// Mean and variance over the seeds of a region's sum.
template <typename Value>
std::pair<double, double> over_seeds(const Value& value) {
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        Region drawn(seed);
        double of_region = 0;
        for (int i = 0; i < kRegion; ++i) {
            of_region += value(drawn.next());
        }
        sum += of_region;
        squares += of_region * of_region;
    }
    const double mean = sum / static_cast<double>(kSeeds);
    return {mean, squares / static_cast<double>(kSeeds) - mean * mean};
}

TEST(Deal, AClientGoesByTheChain) {
    const Weights expected = stationary(chain);
    Weights first(3);
    std::vector<Weights> after(3, Weights(3));
    for (std::uint64_t seed = 1; seed <= 5 * kSeeds; ++seed) {
        Deal deal(Mix(chain), seed);
        Random order(seed, 1);
        TransactionType one = deal.first();
        std::vector<TransactionType> others;
        while (others.size() < kClients - 1) {
            others.push_back(deal.first());
        }
        first[one] += 1.0 / (5 * kSeeds);
        for (int turn = 0; turn < 5; ++turn) {
            for (unsigned i = 0; i < kClients; ++i) {
                TransactionType& now = others[order.below(others.size())];
                now = deal.next(now);
            }
            const TransactionType before = std::exchange(one, deal.next(one));
            after[before][one] += 1;
        }
    }
    for (std::size_t from = 0; from < 3; ++from) {
        EXPECT_NEAR(first[from], expected[from], 0.015);
        const double all = after[from][0] + after[from][1] + after[from][2];
        for (std::size_t to = 0; to < 3; ++to) {
            EXPECT_NEAR(after[from][to] / all, chain[from][to] / 100, 0.015);
        }
    }
}

TEST(Deal, ARegionHoldsTheMixMoreCloselyThanIndependentDrawsWould) {
    const double share = stationary(chain)[0];
    const auto [mean, variance] = over_seeds([](const Drawn& drawn) { return drawn.type == 0 ? 1.0 : 0.0; });
    EXPECT_NEAR(mean, share * kRegion, 0.5);
    EXPECT_LT(variance, share * (1 - share) * kRegion / 10);
}

TEST(Deal, SoItDoesTheLargeOnes) {
    const auto [mean, variance] =
        over_seeds([](const Drawn& drawn) { return drawn.type == 0 && drawn.amount >= 0.98 ? 1.0 : 0.0; });
    EXPECT_NEAR(mean, stationary(chain)[0] * kRegion * 0.02, 0.1);
    EXPECT_LT(variance, mean / 4);
}

TEST(Deal, SoItDoesTheThinking) {
    const auto [mean, variance] = over_seeds([](const Drawn& drawn) { return exponential(1, drawn.think); });
    EXPECT_NEAR(mean, kRegion, 1);
    EXPECT_LT(variance, kRegion / 10.0);
}

TEST(Deal, WhatIsDrawnTogetherIsNotRelated) {
    // Of a single type, whose draws all go on in step.
    double related = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        Deal deal(Mix(Weights{1}), seed);
        for (int i = 0; i < kRegion; ++i) {
            related += (deal.think() - 0.5) * (deal.amount(0) - 0.5) * 12;
        }
    }
    EXPECT_NEAR(related / (static_cast<double>(kSeeds) * kRegion), 0, 0.01);
}

}  // namespace
}  // namespace s80::loadgen
