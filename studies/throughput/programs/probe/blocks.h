// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that is copied, and memory that is walked through, word by word, with a stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace s80::probe {

/// Each word is accessed separately: it is neither kept in a register nor combined with others.
using Word = volatile std::uint32_t;

/// bytes: a whole number of pairs of words. stride: in words; it divides half of the block.
struct Shape {
    std::size_t bytes;
    std::size_t stride;
};

/// Two halves, of which one is copied to the other in alternating directions. A copied word is one larger
/// than its source, so the sums of the words read show whether all words were written before.
class CopyBlock {
public:
    explicit CopyBlock(Shape shape);

    /// Copies all words `passes` times. Returns the sum of the words read.
    std::uint64_t copy(std::size_t passes);

private:
    std::size_t stride_;
    std::vector<std::uint32_t> from_;
    std::vector<std::uint32_t> to_;
};

class WalkBlock {
public:
    explicit WalkBlock(Shape shape);

    /// The sum of the first word of each stride.
    std::uint64_t walk() const;

private:
    std::size_t stride_;
    std::vector<std::uint32_t> words_;
};

}  // namespace s80::probe
