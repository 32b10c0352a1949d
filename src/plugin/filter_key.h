// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of the filter: a line, in the filter interval in which it was recorded.
#pragma once
#include <cstdint>

namespace s80::plugin {

/// The number of a processor's filter interval, above the number of a line. A key of another interval matches
/// nothing. The key 0 is of no interval: an empty entry holds it. Recorder::load_or_store and on_access
/// compare keys at each access, so a key is one word.
class FilterKey {
public:
    /// The key of this line in the present interval. Virtual lines that differ by a multiple of 2^41 lines
    /// share a key.
    std::uint64_t operator()(std::uint64_t line) const { return (line & kLineMask) | interval_; }

    /// The first interval begins.
    void begin() { interval_ = kInterval; }
    /// The next interval begins. Returns false if the number has come round: the caller must then empty all
    /// entries, because nothing old may match.
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
