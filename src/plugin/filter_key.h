// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of the filter: a line, in the filter interval in which it was recorded.
#pragma once
#include <cstdint>

namespace s80::plugin {

/// A key has the number of a line in its low bits and the number of the filter interval above. So entries of
/// earlier intervals match no key. Empty entries are 0, which is not a key of any interval. A key is one
/// word, because each access of the guest compares keys.
class FilterKey {
public:
    /// The key of this line in the present interval. Virtual lines that differ by a multiple of 2^41 lines
    /// share a key.
    std::uint64_t operator()(std::uint64_t line) const { return (line & kLineMask) | interval_; }

    /// The first interval begins.
    void begin() { interval_ = kInterval; }
    /// The next interval begins. Returns false if the numbers of intervals begin anew: the caller must then
    /// empty all entries, so that old ones do not match.
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
    std::uint64_t interval_ = 0;  ///< a multiple of kInterval; 0: no interval has begun
};

}  // namespace s80::plugin
