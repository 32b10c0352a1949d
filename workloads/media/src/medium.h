// SPDX-License-Identifier: GPL-2.0-or-later
// Media of a constant bit rate. Each user has one medium of each rate. The contents of a file follow from
// its name, so the player can check every packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace s80::media {

/// Duration of a packet, as in most codecs of speech and music, at any rate.
inline constexpr unsigned kPacketMs = 20;
/// Frequency of RTP's timestamps in hertz.
inline constexpr unsigned kClockHz = 90'000;
inline constexpr unsigned kPacketTicks = kClockHz / 1000 * kPacketMs;
/// The first dynamic payload type, because RFC 3551 does not define the format.
inline constexpr unsigned kPayloadType = 96;

/// Whether packets of this rate hold whole bytes, and fit into an Ethernet frame.
constexpr bool possible_rate(unsigned kbps) {
    return kbps > 0 && kbps * kPacketMs % 8 == 0 && kbps * kPacketMs / 8 <= 1400;
}

struct Medium {
    unsigned user;  // from 1
    unsigned rate_kbps;

    /// Bytes of a packet's payload.
    std::size_t packet_bytes() const { return rate_kbps * kPacketMs / 8; }
    /// The path relative to the store, and in its URL: "user017/300".
    std::string path() const;
    /// Copies its contents from byte `at` on.
    void copy(std::size_t at, std::span<char> into) const;
};

/// The medium of a path; nothing if the path does not name one.
std::optional<Medium> parse_medium(std::string_view path);

/// A number whose bits look random.
std::uint64_t mixed(std::uint64_t value);

}  // namespace s80::media
