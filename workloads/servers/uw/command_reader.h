// SPDX-License-Identifier: GPL-2.0-or-later
// Reads complete commands from the byte stream: a line and, if it ends with the size of a literal, the
// literal and the rest.
#pragma once

#include <cstddef>
#include <string>

#include "byte_stream.h"

namespace s80::uw {

/// Limits of one command, in bytes.
struct Limits {
    std::size_t line = 64 * 1024;            // all that is not literal
    std::size_t literal = 64 * 1024;         // of any command but APPEND, all literals together
    std::size_t message = 64 * 1024 * 1024;  // of APPEND
};

class CommandReader {
public:
    explicit CommandReader(ByteStream& stream, Limits limits = {}) : stream_(stream), limits_(limits) {}

    enum class Result { command, line_too_long, literal_too_long };

    /// Waits for a command. `text` is the command without its final CRLF. A literal appears in it as "{SIZE}"
    /// and its bytes, without the CRLF between. A command that is too long is cut off and the rest of its
    /// line is discarded. The stream is then at the next command.
    Result next(std::string& text);

private:
    bool append_line(std::string& text);
    void append_bytes(std::string& text, std::size_t count);
    void more();

    ByteStream& stream_;
    Limits limits_;
    std::string buffer_;  // read and not yet taken
    std::size_t at_ = 0;  // in buffer_
};

}  // namespace s80::uw
