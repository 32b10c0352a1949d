// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of the access filter (Filter): a key is a line in one filter interval.
#pragma once
#include <cstdint>

namespace s80::plugin {

/// The low bits of a key are the number of a line, the high bits the number of the filter interval. So a new
/// interval empties the filter without touching its entries: old entries match no key. An entry of 0 is
/// empty. A key is a single word because each access of the guest compares keys.
class FilterKey {
public:
    /// The key of this line in the present interval. Lines whose numbers differ by a multiple of 2^41 have
    /// the same key.
    std::uint64_t operator()(std::uint64_t line) const { return (line & kLineMask) | interval_; }

    /// Begins the first interval.
    void begin() { interval_ = kInterval; }
    /// Begins the next interval. Returns false if the interval's number has wrapped around: the caller must
    /// then set all entries to 0, because old entries could match again.
    [[nodiscard]] bool next() {
        interval_ += kInterval;
        if (interval_ != 0) {
            return true;
        }
        interval_ = kInterval;
        return false;
    }

private:
    static constexpr unsigned kLineBits = 41;
    static constexpr std::uint64_t kInterval = std::uint64_t{1} << kLineBits;
    static constexpr std::uint64_t kLineMask = kInterval - 1;
    std::uint64_t interval_ = 0;  ///< number of the interval, times kInterval; 0: no interval has begun
};

}  // namespace s80::plugin
