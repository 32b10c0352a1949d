// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of RTSP (RFC 2326): as much of them as playing a medium over UDP needs.
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

    /// Empty where there is none.
    std::string header(const std::string& name) const;
};

/// Takes the first whole request off `text`; nothing while there is none. A request that does not parse has
/// no method.
std::optional<Request> take_request(std::string& text);

/// A part of a medium, milliseconds; without an end it goes on to the medium's.
struct Range {
    std::uint64_t begin_ms = 0;
    std::optional<std::uint64_t> end_ms;
};

/// "npt=1.5-2", "npt=1.5-" or nothing at all, which is the whole; nothing where it is none of these.
std::optional<Range> parse_range(std::string_view text);

/// The client's port for RTP in a Transport header; nothing unless that asks for RTP over unicast UDP.
std::optional<std::uint16_t> parse_client_port(std::string_view transport);

/// The Speed header, 1 without one; nothing where it is no number from 0.01 to 100.
std::optional<double> parse_speed(std::string_view text);

/// Milliseconds as seconds with three decimals.
std::string seconds_text(std::uint64_t ms);

}  // namespace s80::rtp
