// SPDX-License-Identifier: GPL-2.0-or-later
#include "mix.h"

#include <gtest/gtest.h>

#include "random.h"

namespace s80::loadgen {
namespace {

constexpr int kDraws = 1'000'000;
constexpr std::size_t kTypes = 10;
constexpr TransactionType kSend = 8;

// The browsing chain of Table 2; its SELT row sums to 101.
const std::vector<Weights> browsing = {
    {1, 1, 1, 7, 39, 5, 5, 10, 25, 6},          {1, 1, 1, 5, 21, 5, 5, 50, 11, 0},
    {1, 1, 1, 5, 21, 5, 5, 10, 45, 6},          {.5, .5, .5, 5, 43, 2, 5, 28, 0, 15.5},
    {.5, 1, .5, 4, 4, 4, 3, 39, 35, 10},        {.5, .5, .5, 4, 42, 1, 1, 19, 21.5, 10},
    {.5, .5, .5, 4, 42, 2.5, 3.5, 25, 16, 5.5}, {.5, .5, .5, 6, 25, 5, 2, 35, 25.5, 0},
    {.5, .5, .5, 1, 15, 2, 25, 15, 25, 15.5},   {.5, .5, .5, 5, 10, .5, 7, 50, 16, 10},
};
const Weights table1 = {.5, .5, .5, 4.5, 25, 3.5, 6.5, 32, 21, 6};

TEST(Mix, IndependentDrawsHaveTheFrequenciesOfTheirWeights) {
    const Mix mix(table1);
    Random random(1);
    Weights seen(kTypes);
    TransactionType type = mix.first(random.uniform());
    for (int i = 0; i < kDraws; ++i) {
        seen[type = mix.next(type, random.uniform())] += 100.0 / kDraws;
    }
    for (std::size_t i = 0; i < kTypes; ++i) {
        EXPECT_NEAR(seen[i], table1[i], 0.2);
    }
}

TEST(Mix, TheChainReachesTheStationaryDistributionOfItsNormalisedRows) {
    Weights expected = table1;  // by power iteration
    for (int step = 0; step < 200; ++step) {
        Weights next(kTypes);
        for (std::size_t from = 0; from < kTypes; ++from) {
            double sum = 0;
            for (const double weight : browsing[from]) {
                sum += weight;
            }
            for (std::size_t to = 0; to < kTypes; ++to) {
                next[to] += expected[from] * browsing[from][to] / sum;
            }
        }
        expected = next;
    }
    const Mix mix(browsing);
    Random random(1);
    Weights seen(kTypes);
    TransactionType type = mix.first(random.uniform());
    for (int i = 0; i < kDraws; ++i) {
        seen[type = mix.next(type, random.uniform())] += 100.0 / kDraws;
    }
    for (std::size_t i = 0; i < kTypes; ++i) {
        EXPECT_NEAR(seen[i], expected[i], 0.2);
    }
    EXPECT_NEAR(seen[kSend], 24.5, 0.3) << "not Table 1's 21";
}

TEST(Mix, TheFirstTransactionIsOfTheStationaryDistribution) {
    const Weights expected = stationary(browsing);
    const Mix mix(browsing);
    Random random(1);
    Weights seen(kTypes);
    for (int i = 0; i < kDraws; ++i) {
        seen[mix.first(random.uniform())] += 1.0 / kDraws;
    }
    for (std::size_t i = 0; i < kTypes; ++i) {
        EXPECT_NEAR(seen[i], expected[i], 0.002);
    }
    EXPECT_NEAR(expected[kSend], 0.245, 0.003) << "not Table 1's 0.21";
}

TEST(Mix, AChainThatGoesInCirclesHasAStationaryDistribution) {
    std::vector<Weights> circle(kTypes, Weights(kTypes));
    for (std::size_t i = 0; i < kTypes; ++i) {
        circle[i][(i + 1) % kTypes] = 1;
    }
    for (const double share : stationary(circle)) {
        EXPECT_NEAR(share, 0.1, 1e-9);
    }
}

TEST(Mix, ATypeOfWeightZeroIsNeverDrawn) {
    const Distribution middle({0, 1, 0, 1, 0, 0, 0, 0, 0, 0});
    Random random(1);
    for (int i = 0; i < kDraws; ++i) {
        const std::size_t drawn = middle.draw(random.uniform());
        ASSERT_TRUE(drawn == 1 || drawn == 3);
    }
}

TEST(Random, StreamsOfClientsAndSeedsDiffer) {
    Random first(1, 0), again(1, 0), other_client(1, 1), other_seed(2, 0);
    const std::uint64_t bits = first.bits();
    EXPECT_EQ(bits, again.bits());
    EXPECT_NE(bits, other_client.bits());
    EXPECT_NE(bits, other_seed.bits());
}

TEST(Random, ExponentialHasItsMean) {
    Random random(1);
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
        sum += random.exponential(2000);
    }
    EXPECT_NEAR(sum / kDraws, 2000, 10);
}

}  // namespace
}  // namespace s80::loadgen
