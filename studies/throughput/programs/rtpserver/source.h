// SPDX-License-Identifier: GPL-2.0-or-later
// The source of a stream's packets: a part of a file, read buffer by buffer: into one buffer by the sending
// thread, or into two buffers by a separate thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace s80::rtp {

/// Packets per buffer: 80 ms of a medium.
inline constexpr std::size_t kPacketsABuffer = 4;

/// A number of packets of a file, from `first` on.
struct Part {
    std::string path;
    std::size_t packet_bytes;
    std::size_t first;
    std::size_t count;
};

class Source {
public:
    virtual ~Source() = default;
    /// The bytes of the next packet, valid until the next call. At most `count` calls are allowed. Throws
    /// std::runtime_error if the file cannot be read.
    virtual std::span<const char> next() = 0;
};

/// buffers: 1 or 2. Throws std::runtime_error if the file cannot be opened.
std::unique_ptr<Source> open_source(const Part& part, unsigned buffers);

}  // namespace s80::rtp
