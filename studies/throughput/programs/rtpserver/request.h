// SPDX-License-Identifier: GPL-2.0-or-later
// RTSP requests (RFC 2326), as far as playing a medium over UDP needs them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace s80::rtp {

struct Request {
    std::string method;
    std::string path;                            // of the URL, without the slash before it
    std::map<std::string, std::string> headers;  // names in small letters

    /// The value of a header; empty if it is missing.
    std::string header(const std::string& name) const;
};

/// Removes the first complete request from `text`; nothing while there is none. A request that does not parse
/// has no method.
std::optional<Request> take_request(std::string& text);

/// A part of a medium in milliseconds. Without an end it lasts until the end of the medium.
struct Range {
    std::uint64_t begin_ms = 0;
    std::optional<std::uint64_t> end_ms;
};

/// Parses "npt=1.5-2" or "npt=1.5-". An empty text is the whole medium. Nothing for any other text.
std::optional<Range> parse_range(std::string_view text);

/// The client's port for RTP in a Transport header; nothing unless the header requests RTP over unicast UDP.
std::optional<std::uint16_t> parse_client_port(std::string_view transport);

/// The Speed header; 1 if it is missing. Nothing if the value is not a number from 0.01 to 100.
std::optional<double> parse_speed(std::string_view text);

/// Milliseconds as seconds with three decimals.
std::string seconds_text(std::uint64_t ms);

}  // namespace s80::rtp
