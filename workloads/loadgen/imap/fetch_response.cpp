// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/fetch_response.h"

#include <algorithm>

#include "imap/syntax.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kCaptureLimit = 4096;

/// `at`, or the next character's place if a blank is there.
const char* after_blank(const char* at, const char* end) {
    return at != end && *at == ' ' ? at + 1 : at;
}

}  // namespace

void FetchResponse::begin(std::string* capture) {
    message_ = {};
    capture_ = capture;
    value_ = Value::none;
    depth_ = 0;
    in_section_ = in_text_ = ended_ = false;
}

void FetchResponse::read(std::string_view piece, bool has_literal, std::uint64_t literal) {
    in_text_ = false;
    const char* at = piece.data();
    const char* const end = at + piece.size();
    while (at != end) {
        if (in_section_) {
            at = read_section(at, end);
            continue;
        }
        switch (*at) {
            case ' ': ++at; break;
            case '(':
                ++depth_;
                ++at;
                break;
            case ')':
                ++at;
                if (depth_ > 0) {
                    --depth_;
                }
                if (depth_ == 1) {
                    value_ = Value::none;  // the list was the value
                }
                if (depth_ == 0) {
                    ended_ = at == end && !has_literal;
                    return;
                }
                break;
            case '"': at = read_quoted(at, end); break;
            default: at = depth_ == 1 && value_ == Value::none ? read_item(at, end) : read_atom(at, end);
        }
    }
    if (!has_literal || in_section_ || depth_ != 1) {
        return;
    }
    if (value_ == Value::text) {
        add_text(literal);
        in_text_ = true;
    }
    value_ = Value::none;
}

const char* FetchResponse::read_item(const char* at, const char* end) {
    const std::string_view text(at, static_cast<std::size_t>(end - at));
    if (begins_with(text, "uid ")) {
        return after_blank(read_number(at + 4, end, message_.uid), end);
    }
    if (begins_with(text, "flags (")) {
        return read_flags(at + 7, end);
    }
    if (begins_with(text, "rfc822.size ")) {
        return after_blank(read_number(at + 12, end, message_.size), end);
    }
    if (begins_with(text, "body") && text.size() > 4 && text[4] == '[') {
        in_section_ = true;
        value_ = Value::text;
        return read_section(at + 5, end);
    }
    while (at != end && *at != ' ' && *at != '[' && *at != '(' && *at != ')') {
        ++at;
    }
    in_section_ = at != end && *at == '[';
    const std::string_view name = text.substr(0, static_cast<std::size_t>(at - text.data()));
    const bool is_text = in_section_ ? !same_word(name, "BINARY.SIZE")
                                     : same_word(name, "RFC822") || same_word(name, "RFC822.HEADER") ||
                                           same_word(name, "RFC822.TEXT");
    value_ = is_text ? Value::text : Value::other;
    return in_section_ ? at + 1 : at;
}

const char* FetchResponse::read_flags(const char* at, const char* end) {
    constexpr std::string_view kDeleted = "\\Deleted";
    for (; at != end && *at != ')'; ++at) {
        if (*at != '\\') {
            continue;
        }
        const std::string_view rest(at, static_cast<std::size_t>(end - at));
        if (!begins_with(rest.substr(1), "deleted") || rest.size() == kDeleted.size()) {
            continue;
        }
        const char next = rest[kDeleted.size()];
        if (next == ' ' || next == ')') {
            message_.deleted = true;
        }
    }
    return at == end ? end : after_blank(at + 1, end);
}

const char* FetchResponse::read_section(const char* at, const char* end) {
    for (;;) {
        while (at != end && *at != ']' && *at != '"') {
            ++at;
        }
        if (at == end) {
            return end;
        }
        if (*at == ']') {
            break;
        }
        at += quoted_length(std::string_view(at, static_cast<std::size_t>(end - at)));
    }
    in_section_ = false;
    while (at != end && *at != ' ') {
        ++at;  // the origin of a partial text, such as <0>
    }
    return after_blank(at, end);
}

const char* FetchResponse::read_quoted(const char* at, const char* end) {
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const std::size_t length = quoted_length(rest);
    if (depth_ == 1) {
        if (value_ == Value::text) {
            const std::string content = unquoted(rest.substr(0, length));
            add_text(content.size());
            if (capture_ != nullptr) {
                keep(content);
            }
        }
        value_ = Value::none;
    }
    return at + length;
}

const char* FetchResponse::read_atom(const char* at, const char* end) {
    if (depth_ == 1) {
        if (value_ == Value::text) {
            add_text(0);  // NIL
        }
        value_ = Value::none;
    }
    return at + atom_length(std::string_view(at, static_cast<std::size_t>(end - at)));
}

void FetchResponse::add_text(std::uint64_t bytes) {
    ++message_.texts;
    message_.text_bytes = bytes;
}

void FetchResponse::keep(std::string_view part) {
    capture_->append(part.substr(0, kCaptureLimit - std::min(kCaptureLimit, capture_->size())));
}

}  // namespace s80::loadgen
