// SPDX-License-Identifier: GPL-2.0-or-later
// Splits an IMAP server's byte stream into lines and literals, independent of how the bytes arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace s80::loadgen {

/// Receives responses. A response is a line, or several pieces of text with a literal between each two.
class ResponseHandler {
public:
    /// `begins`: the first piece of a response. `has_literal`: a literal of `literal` bytes follows, and then
    /// another piece; otherwise the response ends here. The text excludes the announcement of the
    /// literal, which is {n}, {n+} or ~{n}, and CR LF.
    virtual void on_text(std::string_view text, bool begins, bool has_literal, std::uint64_t literal) = 0;
    /// A part of the announced literal. The parts add up to its length.
    virtual void on_literal(std::string_view part) = 0;

protected:
    ~ResponseHandler() = default;
};

class ResponseParser {
public:
    /// Takes all complete lines and parts of literals, and returns the number of bytes consumed. The rest, an
    /// incomplete line, must be offered again, followed by more. Throws a fatal Failure for a line without
    /// CR.
    std::size_t feed(std::string_view bytes, ResponseHandler& handler);

private:
    std::uint64_t literal_left_ = 0;
    bool begins_ = true;
};

}  // namespace s80::loadgen
