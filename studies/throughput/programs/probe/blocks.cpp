// SPDX-License-Identifier: GPL-2.0-or-later
#include "blocks.h"

#include <numeric>
#include <utility>

namespace s80::probe {

namespace {

std::vector<std::uint32_t> numbered(std::size_t words) {
    std::vector<std::uint32_t> all(words);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

}  // namespace

CopyBlock::CopyBlock(Shape shape)
    : stride_(shape.stride), from_(numbered(shape.bytes / 2 / sizeof(std::uint32_t))), to_(from_.size()) {}

std::uint64_t CopyBlock::copy(std::size_t passes) {
    const std::size_t words = from_.size();
    std::uint64_t sum = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        const Word* const from = from_.data();
        Word* const to = to_.data();
        for (std::size_t first = 0; first < stride_; ++first) {
            for (std::size_t i = first; i < words; i += stride_) {
                const std::uint32_t word = from[i];
                to[i] = word + 1;
                sum += word;
            }
        }
        std::swap(from_, to_);
    }
    return sum;
}

WalkBlock::WalkBlock(Shape shape)
    : stride_(shape.stride), words_(numbered(shape.bytes / sizeof(std::uint32_t))) {}

std::uint64_t WalkBlock::walk() const {
    const Word* const words = words_.data();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < words_.size(); i += stride_) {
        sum += words[i];
    }
    return sum;
}

}  // namespace s80::probe
