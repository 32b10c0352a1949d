// SPDX-License-Identifier: GPL-2.0-or-later
// The interarrival jitter of RFC 3550, section 6.4.1, in nanoseconds instead of ticks of the stream's clock.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace s80::loadgen {

class Jitter {
public:
    /// Adds a packet with its arrival time and its timestamp, each on its own clock. Returns the difference
    /// between its transit time and that of the packet before (|D|); nothing for the stream's first packet.
    std::optional<std::uint64_t> add(std::uint64_t arrival_ns, std::uint64_t stamp_ns) {
        const double transit_ns = static_cast<double>(arrival_ns) - static_cast<double>(stamp_ns);
        std::optional<std::uint64_t> difference;
        if (transit_ns_) {
            const double d = std::abs(transit_ns - *transit_ns_);
            smoothed_ns_ += (d - smoothed_ns_) / 16;
            difference = static_cast<std::uint64_t>(d);
        }
        transit_ns_ = transit_ns;
        return difference;
    }
    /// Begins another stream, whose first packet is not compared. The estimate continues.
    void begin_stream() { transit_ns_.reset(); }

    /// The smoothed estimate (J).
    std::uint64_t value_ns() const { return static_cast<std::uint64_t>(smoothed_ns_); }

private:
    std::optional<double> transit_ns_;
    double smoothed_ns_ = 0;
};

}  // namespace s80::loadgen
