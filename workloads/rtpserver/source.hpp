// SPDX-License-Identifier: GPL-2.0-or-later
// Where a stream's packets come from: a part of a file, read a buffer at a time, into one buffer by the
// thread that sends them or into two by a thread of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace s80::rtp {

/// Packets that a buffer holds: 80 ms of a medium.
inline constexpr std::size_t packets_a_buffer = 4;

/// So many packets of a file, from `first` on.
struct Part {
    std::string path;
    std::size_t packet_bytes;
    std::size_t first;
    std::size_t count;
};

class Source {
public:
    virtual ~Source() = default;
    /// The next packet's bytes, valid until the next call; at most `count` calls. Throws std::runtime_error
    /// where they cannot be read.
    virtual std::span<const char> next() = 0;
};

/// buffers: 1 or 2. Throws std::runtime_error where the file cannot be opened.
std::unique_ptr<Source> open_source(const Part& part, unsigned buffers);

}  // namespace s80::rtp
