// SPDX-License-Identifier: GPL-2.0-or-later
// The items of a FETCH response: `(UID 7 FLAGS (\Seen) BODY[] {5}`, five bytes, `)`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace s80::loadgen {

/// What a FETCH response says of its message.
struct FetchedMessage {
    unsigned texts = 0;            // BODY[...], BINARY[...], RFC822, RFC822.HEADER, RFC822.TEXT
    std::uint64_t text_bytes = 0;  // of the last text; 0 for NIL
    std::uint64_t size = 0;        // RFC822.SIZE
    unsigned uid = 0;
    bool deleted = false;  // FLAGS contain \Deleted
};

/// Reads one FETCH response, in pieces between which literals stand. Items may have any order. A text is a
/// literal, a quoted string or NIL.
class FetchResponse {
public:
    /// A response begins. The first bytes of its texts are appended to `capture`, unless that is null.
    void begin(std::string* capture);
    /// `has_literal`: a literal of `literal` bytes follows the piece.
    void read(std::string_view piece, bool has_literal, std::uint64_t literal);
    void read_literal(std::string_view part) {
        if (in_text_ && capture_ != nullptr) {
            keep(part);
        }
    }

    /// Whether the list of items is closed and nothing follows it.
    bool complete() const { return ended_; }
    const FetchedMessage& message() const { return message_; }

private:
    // Each reads from `at` on and returns where the next element begins, or `end`.
    const char* read_item(const char* at, const char* end);
    const char* read_flags(const char* at, const char* end);
    const char* read_section(const char* at, const char* end);
    const char* read_quoted(const char* at, const char* end);
    const char* read_atom(const char* at, const char* end);
    void add_text(std::uint64_t bytes);
    void keep(std::string_view part);

    FetchedMessage message_;
    std::string* capture_ = nullptr;
    enum class Value { none, text, other } value_ = Value::none;  // what comes next, behind an item's name
    unsigned depth_ = 0;                                          // of brackets
    bool in_section_ = false;  // of an item's name: in square brackets, where strings may name header fields
    bool in_text_ = false;     // the literal is a text
    bool ended_ = false;
};

}  // namespace s80::loadgen
