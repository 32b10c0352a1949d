// SPDX-License-Identifier: GPL-2.0-or-later
// What a session reads from and writes to: the TLS connection, in tests a string.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

namespace s80::uw {

/// The client has hung up.
struct Gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The session is to end, with this farewell.
struct Farewell : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class ByteStream {
public:
    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    /// Waits for bytes and returns how many there are, at least one. Throws Gone at the end, Farewell when a
    /// signal or the silence of the client ends the session.
    virtual std::size_t read(std::span<char> into) = 0;
    /// Collects what is to be sent; some of it may go at once. Throws Gone.
    virtual void write(std::string_view bytes) = 0;
    /// Sends what was collected.
    virtual void flush() = 0;
};

}  // namespace s80::uw
