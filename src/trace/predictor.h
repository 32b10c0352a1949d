// SPDX-License-Identifier: GPL-2.0-or-later
// Guesses the next line of a processor, the same way when a capture is written and when it is read: code runs
// again as it ran before, on whatever processor, so the line that followed last time follows again.
#pragma once
#include <cstdint>
#include <vector>

#include "model/types.h"

namespace s80::trace {

class LinePredictor {
public:
    explicit LinePredictor(unsigned processors) : lanes_(processors), next_(kEntries) {}

    /// What a processor's stream has shown so far.
    struct Lane {
        model::Line fetch = 0;  ///< last line fetched
        model::Line data = 0;   ///< last line loaded, stored or walked
        std::uint32_t slot = 0;
    };
    Lane& lane(unsigned processor) { return lanes_[processor]; }

    /// Where the guess for the next event of this kind stands; `lane` is then moved on with `seen`.
    model::Line& guess(const Lane& lane, bool fetch) {
        const std::uint32_t key = fetch ? lane.fetch * 2 : (lane.data * 0x2545f491U ^ lane.fetch) * 2 + 1;
        return next_[key * 0x9e3779b1U >> (32 - kBits)];
    }
    static void seen(Lane& lane, bool fetch, model::Line line) { (fetch ? lane.fetch : lane.data) = line; }

private:
    static constexpr unsigned kBits = 14;
    static constexpr std::size_t kEntries = std::size_t{1} << kBits;
    std::vector<Lane> lanes_;
    std::vector<model::Line> next_;
};

}  // namespace s80::trace
