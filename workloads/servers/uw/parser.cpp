// SPDX-License-Identifier: GPL-2.0-or-later
#include "parser.h"

#include <algorithm>
#include <charconv>

namespace s80::uw {

namespace {

constexpr std::string_view kNeverInAtoms = "(){%*\"\\";

bool in_atom(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && kNeverInAtoms.find(c) == std::string_view::npos;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// NUMBER or *, optionally :NUMBER or :*; false if the text is something else.
bool is_range(std::string_view text) {
    const auto is_end = [](std::string_view end) {
        return end == "*" || (!end.empty() && end.size() < 10 && end.front() != '0' &&
                              std::all_of(end.begin(), end.end(), is_digit));
    };
    const std::size_t colon = text.find(':');
    return is_end(text.substr(0, colon)) &&
           (colon == std::string_view::npos || is_end(text.substr(colon + 1)));
}

}  // namespace

std::string upper(std::string_view text) {
    std::string capitals(text);
    for (char& c : capitals) {
        if (c >= 'a' && c <= 'z') {
            c = static_cast<char>(c - 'a' + 'A');
        }
    }
    return capitals;
}

bool Parser::take(char wanted) {
    if (at_end() || text_[at_] != wanted) {
        return false;
    }
    ++at_;
    return true;
}

void Parser::expect(char wanted) {
    if (take(wanted)) {
        return;
    }
    throw BadSyntax(wanted == ' ' ? std::string("Missing argument") : std::string("Missing ") + wanted);
}

void Parser::end() const {
    if (!at_end()) {
        throw BadSyntax("Too much at the end of the command");
    }
}

template <typename Allowed>
std::string_view Parser::run(Allowed allowed, const char* what) {
    const std::size_t begin = at_;
    while (!at_end() && allowed(text_[at_])) {
        ++at_;
    }
    if (at_ == begin) {
        throw BadSyntax(std::string("Missing ") + what);
    }
    return text_.substr(begin, at_ - begin);
}

std::string_view Parser::tag() {
    return run([](char c) { return in_atom(c) && c != '+'; }, "tag");
}

std::string_view Parser::atom() {
    return run([](char c) { return in_atom(c) && c != ']'; }, "word");
}

std::string Parser::astring() {
    if (peek() == '"' || peek() == '{') {
        return string();
    }
    return std::string(run(in_atom, "name"));
}

std::string Parser::string() {
    if (peek() == '"') {
        return quoted();
    }
    if (peek() == '{') {
        return literal();
    }
    throw BadSyntax("Missing string");
}

std::string Parser::pattern() {
    if (peek() == '"' || peek() == '{') {
        return string();
    }
    return std::string(run([](char c) { return in_atom(c) || c == '%' || c == '*'; }, "pattern"));
}

std::string Parser::quoted() {
    std::string value;
    for (++at_; !at_end(); ++at_) {
        if (text_[at_] == '"') {
            ++at_;
            return value;
        }
        if (text_[at_] == '\\' && ++at_ == text_.size()) {
            break;
        }
        value += text_[at_];
    }
    throw BadSyntax("A quoted string does not end");
}

std::string Parser::literal() {
    ++at_;
    const unsigned long size = number();
    expect('}');
    if (size > text_.size() - at_) {
        throw BadSyntax("A literal is not at the end of its line");
    }
    const std::string_view value = text_.substr(at_, size);
    at_ += size;
    if (value.find('\0') != std::string_view::npos) {
        throw BadSyntax("A literal contains a zero byte");
    }
    return std::string(value);
}

std::string_view Parser::sequence() {
    const std::string_view set =
        run([](char c) { return is_digit(c) || c == ':' || c == ',' || c == '*'; }, "message numbers");
    std::string_view rest = set;
    for (;;) {
        const std::size_t comma = rest.find(',');
        if (!is_range(rest.substr(0, comma))) {
            throw BadSyntax("Bad message numbers");
        }
        if (comma == std::string_view::npos) {
            return set;
        }
        rest.remove_prefix(comma + 1);
    }
}

unsigned long Parser::number() {
    const std::string_view digits = run(is_digit, "number");
    unsigned long value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) {
        throw BadSyntax("A number is too large");
    }
    return value;
}

std::vector<std::string> Parser::flags() {
    std::vector<std::string> found;
    const bool list = take('(');
    while (!(list && take(')'))) {
        if (!found.empty()) {
            space();
        }
        std::string flag = take('\\') ? "\\" : "";
        flag += atom();
        found.push_back(std::move(flag));
        if (!list && at_end()) {
            break;
        }
    }
    return found;
}

std::string Parser::fetch_name() {
    return upper(run([](char c) { return in_atom(c) && c != '[' && c != ']' && c != '<'; }, "FETCH item"));
}

}  // namespace s80::uw
