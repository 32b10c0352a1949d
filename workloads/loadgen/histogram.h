// SPDX-License-Identifier: GPL-2.0-or-later
// A histogram of durations with logarithmic buckets. The upper bound of a bucket is within 1.6% of any value
// in it (64 buckets for each doubling).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace s80::loadgen {

class Histogram {
public:
    struct Bucket {
        std::uint64_t upper_ns;  // the greatest duration that falls into it
        std::uint64_t count;
    };

    void add(std::uint64_t ns);
    void clear() { *this = Histogram(); }

    std::uint64_t count() const { return count_; }
    std::uint64_t max() const { return max_; }
    std::uint64_t sum() const { return sum_; }
    std::uint64_t mean() const { return count_ == 0 ? 0 : sum_ / count_; }

    /// The smallest upper bound of a bucket (at most the maximum) that at least `percent` of the values do
    /// not exceed; 0 if the histogram is empty.
    std::uint64_t percentile(double percent) const;

    /// The nonempty buckets, ascending.
    std::vector<Bucket> buckets() const;

private:
    static constexpr unsigned kSubBits = 6;

    static std::size_t bucket_of(std::uint64_t ns);
    static std::uint64_t upper_of(std::size_t bucket);

    std::vector<std::uint64_t> counts_;  // grows to the greatest bucket seen
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace s80::loadgen
