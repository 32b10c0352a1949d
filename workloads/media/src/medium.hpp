// SPDX-License-Identifier: GPL-2.0-or-later
// Media of a constant bit rate: each user has one of each rate, and what a file holds follows from its name
// alone, so that whoever plays it can tell whether every packet came as it must.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace s80::media {

/// A packet holds so much time, as most codecs of speech and music have it, whatever the rate.
inline constexpr unsigned packet_ms = 20;
/// Of RTP's timestamps, hertz.
inline constexpr unsigned clock_hz = 90'000;
inline constexpr unsigned packet_ticks = clock_hz / 1000 * packet_ms;
/// Of the format, which is none that RFC 3551 knows: the first dynamic one.
inline constexpr unsigned payload_type = 96;

/// Whether packets of this rate hold whole bytes, and fit into an Ethernet frame.
constexpr bool possible_rate(unsigned kbps) {
    return kbps > 0 && kbps * packet_ms % 8 == 0 && kbps * packet_ms / 8 <= 1400;
}

struct Medium {
    unsigned user;  // from 1
    unsigned rate_kbps;

    /// Of a packet's payload.
    std::size_t packet_bytes() const { return rate_kbps * packet_ms / 8; }
    /// Relative to the store, and in its URL: "user017/300".
    std::string path() const;
    /// What it holds from byte `at` on.
    void copy(std::size_t at, std::span<char> into) const;
};

/// The medium of a path; nothing where it is none.
std::optional<Medium> parse_medium(std::string_view path);

/// A number whose bits look drawn.
std::uint64_t mixed(std::uint64_t value);

}  // namespace s80::media
