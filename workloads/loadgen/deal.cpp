// SPDX-License-Identifier: GPL-2.0-or-later
#include "deal.h"

#include <cstddef>

namespace s80::loadgen {

namespace {

/// Of the random streams of a seed: the clients have the first ones, incoming mail and arrivals the last.
constexpr std::uint64_t kDealStream = std::uint64_t{1} << 63;

// Each kind of draw has a number of its own: by multiples of one, long thinking would go with certain sizes.
constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kRootOf2 = 0x6A09E667F3BCC908;
constexpr std::uint64_t kRootOf3 = 0xBB67AE8584CAA73B;

std::vector<EvenDraws> of_each(std::size_t types, Random& random, std::uint64_t step) {
    std::vector<EvenDraws> draws;
    for (std::size_t type = 0; type < types; ++type) {
        draws.emplace_back(random, step);
    }
    return draws;
}

}  // namespace

Deal::Deal(const Mix& mix, std::uint64_t seed) : Deal(mix, Random(seed, kDealStream)) {}

Deal::Deal(const Mix& mix, Random random)
    : mix_(mix),
      first_(random, kGoldenRatio),
      think_(random, kRootOf2),
      next_(of_each(mix.types(), random, kGoldenRatio)),
      amount_(of_each(mix.types(), random, kRootOf3)) {}

}  // namespace s80::loadgen
