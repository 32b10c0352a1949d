// SPDX-License-Identifier: GPL-2.0-or-later
// The input and output of a session: the TLS connection, or a string in tests.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

namespace s80::uw {

/// The client has closed the connection.
struct Gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The session must end, with this farewell.
struct Farewell : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class ByteStream {
public:
    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    /// Waits for bytes and returns their number, at least one. Throws Gone at the end, and Farewell if a
    /// signal or a timeout ends the session.
    virtual std::size_t read(std::span<char> into) = 0;
    /// Collects output; some of it may be sent at once. Throws Gone.
    virtual void write(std::string_view bytes) = 0;
    /// Sends the collected output.
    virtual void flush() = 0;
};

}  // namespace s80::uw
