// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/response_parser.h"

#include <algorithm>

#include "imap/syntax.h"
#include "lines.h"

namespace s80::loadgen {

namespace {

/// Whether a response that begins with this line ends in text for people. Such text may contain {5}, which
/// then does not announce a literal: status responses, tagged replies, continuation requests.
bool is_for_people(std::string_view line) {
    if (!line.starts_with("* ")) {
        return true;
    }
    line.remove_prefix(2);
    if (line.front() >= '0' && line.front() <= '9') {
        return false;
    }
    const std::string_view word = take_word(line);
    for (const std::string_view status : {"OK", "NO", "BAD", "BYE", "PREAUTH"}) {
        if (same_word(word, status)) {
            return true;
        }
    }
    return false;
}

/// Finds {digits}, {digits+} or ~{digits} at the end of a line and removes it.
bool take_literal(std::string_view& line, bool begins, std::uint64_t& size) {
    if (!line.ends_with('}')) {
        return false;
    }
    const std::size_t open = line.rfind('{');
    if (open == std::string_view::npos || (begins && is_for_people(line))) {
        return false;
    }
    std::string_view digits = line.substr(open + 1, line.size() - open - 2);
    if (digits.ends_with('+')) {
        digits.remove_suffix(1);
    }
    std::uint64_t announced = 0;
    if (!to_number(digits, announced)) {
        return false;
    }
    size = announced;
    line = line.substr(0, open);
    if (line.ends_with('~')) {
        line.remove_suffix(1);
    }
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
        if (!line) {
            break;
        }
        const bool has_literal = take_literal(*line, begins_, literal_left_);
        const bool begins = begins_;
        begins_ = !has_literal;
        handler.on_text(*line, begins, has_literal, literal_left_);
    }
    return at;
}

}  // namespace s80::loadgen
