// SPDX-License-Identifier: GPL-2.0-or-later
// Words of IMAP responses (RFC 3501 and RFC 9051, section 9).
#pragma once

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace s80::loadgen {

/// Compares without regard to case, as IMAP compares keywords, flags and the name INBOX.
inline bool same_word(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           (left == right || strncasecmp(left.data(), right.data(), left.size()) == 0);
}

/// Whether the text begins with these characters, given in lower case, without regard to case. For the
/// responses that come most often: without a call, and done at the first character in most cases.
template <std::size_t length>
bool begins_with(std::string_view text, const char (&characters)[length]) {
    if (text.size() < length - 1) {
        return false;
    }
    for (std::size_t i = 0; i < length - 1; ++i) {
        if ((text[i] | 0x20) != characters[i]) {
            return false;
        }
    }
    return true;
}

/// Removes the first word of the text, which ends at a blank, and returns the word.
inline std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

/// Reads decimal digits up to the first other character, or `end`, and returns their end; `begin` if there is
/// no digit or the number is too large. Short numbers are the rule, and need no look at each digit's
/// overflow.
template <typename Number>
const char* read_number(const char* begin, const char* end, Number& number) {
    const char* at = begin;
    Number value = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
        value = value * 10 + static_cast<Number>(*at - '0');
    }
    if (at - begin > std::numeric_limits<Number>::digits10) {
        const auto [last, error] = std::from_chars(begin, at, value);
        if (error != std::errc()) {
            return begin;
        }
    }
    if (at != begin) {
        number = value;
    }
    return at;
}

/// Whether the whole word is a number.
template <typename Number>
bool to_number(std::string_view word, Number& number) {
    const char* const end = word.data() + word.size();
    return !word.empty() && read_number(word.data(), end, number) == end;
}

/// Length of the atom with which the text begins.
inline std::size_t atom_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && text[length] != ' ' && text[length] != '(' && text[length] != ')') {
        ++length;
    }
    return length;
}

/// Length of the quoted string with which the text begins, with its quotation marks; the text's length if the
/// string has no end.
inline std::size_t quoted_length(std::string_view text) {
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') {
            return at + 1;
        }
        if (text[at] == '\\') {
            ++at;
        }
    }
    return text.size();
}

/// The content of a quoted string.
inline std::string unquoted(std::string_view text) {
    text = text.substr(1, text.size() - (text.size() > 1 && text.ends_with('"') ? 2 : 1));
    std::string content;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) {
            ++at;
        }
        content += text[at];
    }
    return content;
}

/// An element of a response: `(`, `)`, a quoted string with its quotation marks, or an atom. Empty: the text
/// has ended. Removes the element, and blanks before it, from the text.
inline std::string_view take_element(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) {
        return {};
    }
    std::size_t length = 1;
    if (text.front() == '"') {
        length = quoted_length(text);
    } else if (text.front() != '(' && text.front() != ')') {
        length = atom_length(text);
    }
    const std::string_view element = text.substr(0, length);
    text.remove_prefix(length);
    return element;
}

}  // namespace s80::loadgen
