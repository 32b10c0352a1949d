// SPDX-License-Identifier: GPL-2.0-or-later
#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace s80::loadgen {

// Values below 64 have a bucket each. A greater value v with its top bit at position e falls into
// sub-bucket (v >> (e - 6)) - 64 of octave e - 6.
std::size_t Histogram::bucket_of(std::uint64_t ns) {
    constexpr std::uint64_t kSubBuckets = 1u << kSubBits;
    if (ns < kSubBuckets) {
        return ns;
    }
    const unsigned octave = static_cast<unsigned>(std::bit_width(ns)) - 1 - kSubBits;
    return (static_cast<std::size_t>(octave) << kSubBits) + (ns >> octave);
}

std::uint64_t Histogram::upper_of(std::size_t bucket) {
    constexpr std::uint64_t kSubBuckets = 1u << kSubBits;
    if (bucket < 2 * kSubBuckets) {
        return bucket;
    }
    const std::size_t octave = (bucket >> kSubBits) - 1;
    const std::uint64_t leading = kSubBuckets + (bucket & (kSubBuckets - 1));
    return ((leading + 1) << octave) - 1;
}

void Histogram::add(std::uint64_t ns) {
    const std::size_t bucket = bucket_of(ns);
    if (bucket >= counts_.size()) {
        counts_.resize(bucket + 1);
    }
    ++counts_[bucket];
    ++count_;
    sum_ += ns;
    max_ = std::max(max_, ns);
}

std::uint64_t Histogram::percentile(double percent) const {
    const auto rank = static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
        seen += counts_[bucket];
        if (seen >= rank && seen > 0) {
            return std::min(upper_of(bucket), max_);
        }
    }
    return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> filled;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
        if (counts_[bucket] != 0) {
            filled.push_back({upper_of(bucket), counts_[bucket]});
        }
    }
    return filled;
}

}  // namespace s80::loadgen
