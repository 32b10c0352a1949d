// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that is copied and memory that is walked through, word by word, in steps of a stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace s80::probe {

/// Each word is accessed by itself: neither kept in a register nor put together with others.
using Word = volatile std::uint32_t;

/// bytes: a whole number of pairs of words; stride: words, which divide the half of the block.
struct Shape {
    std::size_t bytes;
    std::size_t stride;
};

/// Two halves, of which one is copied to the other, and next time the other way round. A copied word is one
/// larger than what it was copied from, so the sums of what is read tell whether all was written before.
class CopyBlock {
public:
    explicit CopyBlock(Shape shape);

    /// Copies all words so often; the sum of what was read.
    std::uint64_t copy(std::size_t passes);

private:
    std::size_t stride_;
    std::vector<std::uint32_t> from_;
    std::vector<std::uint32_t> to_;
};

class WalkBlock {
public:
    explicit WalkBlock(Shape shape);

    /// The sum of each stride's first word.
    std::uint64_t walk() const;

private:
    std::size_t stride_;
    std::vector<std::uint32_t> words_;
};

}  // namespace s80::probe
