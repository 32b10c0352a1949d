// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/response_parser.hpp"

#include <algorithm>
#include <charconv>

#include "lines.hpp"

namespace s80::loadgen {

namespace {

/// Finds {digits} at the end of a line and removes it.
bool take_literal(std::string_view& line, std::uint64_t& size) {
    if (!line.ends_with('}')) return false;
    const std::size_t open = line.rfind('{');
    if (open == std::string_view::npos) return false;
    const char* last = line.data() + line.size() - 1;
    const auto [end, error] = std::from_chars(line.data() + open + 1, last, size);
    if (error != std::errc() || end != last) return false;
    line = line.substr(0, open);
    return true;
}

}  // namespace

std::size_t ResponseParser::feed(std::string_view bytes, ResponseHandler& handler) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (literal_left_ > 0) {
            const auto part =
                static_cast<std::size_t>(std::min<std::uint64_t>(literal_left_, bytes.size() - at));
            handler.on_literal(bytes.substr(at, part));
            literal_left_ -= part;
            at += part;
            continue;
        }
        auto line = take_line(bytes, at);
        if (!line) break;
        const bool has_literal = take_literal(*line, literal_left_);
        const bool begins = begins_;
        begins_ = !has_literal;
        handler.on_text(*line, begins, has_literal, literal_left_);
    }
    return at;
}

}  // namespace s80::loadgen
