// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace s80::rtp {

namespace {

std::string_view trim(std::string_view text) {
    while (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    while (text.ends_with(' ')) {
        text.remove_suffix(1);
    }
    return text;
}

/// What stands before the first `mark`, which is taken off `text` together with it; all where there is none.
std::string_view take(std::string_view& text, std::string_view mark) {
    const std::size_t end = std::min(text.find(mark), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + mark.size(), text.size()));
    return part;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> milliseconds(std::string_view text) {
    const auto seconds = number<double>(text);
    if (!seconds || !(*seconds >= 0 && *seconds < 1e9)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::llround(*seconds * 1000));
}

Request parse(std::string_view text) {
    std::string_view line = take(text, "\r\n");
    const std::string_view method = take(line, " ");
    std::string_view url = take(line, " ");
    if (line != "RTSP/1.0" || method.empty() || url.empty()) {
        return {};
    }
    Request request;
    request.method = method;
    take(url, "://");
    take(url, "/");
    request.path = url;
    while (!text.empty()) {
        line = take(text, "\r\n");
        std::string name(take(line, ":"));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        request.headers[name] = trim(line);
    }
    return request;
}

}  // namespace

std::string Request::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

std::optional<Request> take_request(std::string& text) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) {
        return std::nullopt;
    }
    Request request = parse(std::string_view(text).substr(0, end));
    text.erase(0, end + 4);
    return request;
}

std::optional<Range> parse_range(std::string_view text) {
    if (text.empty()) {
        return Range();
    }
    if (take(text, "=") != "npt") {
        return std::nullopt;
    }
    const auto begin = milliseconds(take(text, "-"));
    if (!begin) {
        return std::nullopt;
    }
    if (text.empty()) {
        return Range{*begin, std::nullopt};
    }
    const auto end = milliseconds(text);
    if (!end || *end <= *begin) {
        return std::nullopt;
    }
    return Range{*begin, end};
}

std::optional<std::uint16_t> parse_client_port(std::string_view transport) {
    const std::string_view profile = take(transport, ";");
    if (profile != "RTP/AVP" && profile != "RTP/AVP/UDP") {
        return std::nullopt;
    }
    bool unicast = false;
    std::optional<std::uint16_t> port;
    while (!transport.empty()) {
        std::string_view value = take(transport, ";");
        const std::string_view name = take(value, "=");
        if (name == "unicast") {
            unicast = true;
        }
        if (name == "client_port") {
            port = number<std::uint16_t>(take(value, "-"));
        }
    }
    return unicast && port != 0 ? port : std::nullopt;
}

std::optional<double> parse_speed(std::string_view text) {
    if (text.empty()) {
        return 1;
    }
    const auto speed = number<double>(text);
    return speed && *speed >= 0.01 && *speed <= 100 ? speed : std::nullopt;
}

std::string seconds_text(std::uint64_t ms) {
    char text[32];
    std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ms / 1000),
                  static_cast<unsigned>(ms % 1000));
    return text;
}

}  // namespace s80::rtp
