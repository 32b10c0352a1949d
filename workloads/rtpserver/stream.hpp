// SPDX-License-Identifier: GPL-2.0-or-later
// A stream of RTP (RFC 3550) to one client: the packets of a part of a medium, each sent when it is due by
// the machine's clock.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "source.hpp"

namespace s80::rtp {

/// Nanoseconds of the monotonic clock.
std::uint64_t now_ns();

class Stream {
public:
    /// The socket from which it sends to `client`. `number` decides its identifier, its first sequence number
    /// and its first timestamp, which RFC 3550 wants to be drawn. Throws std::runtime_error without a socket.
    Stream(const sockaddr_in& client, std::uint64_t number);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::uint16_t port() const;
    std::uint32_t identifier() const { return identifier_; }
    std::uint16_t sequence() const { return sequence_; }
    std::uint32_t timestamp() const { return timestamp_; }

    /// What is played next; the first packet is due now. speed: times the medium's own.
    void play(std::unique_ptr<Source> source, std::size_t packets, double speed);
    bool playing() const { return left_ > 0; }
    /// When the next packet is due, while it is playing.
    std::uint64_t due_ns() const;
    /// Sends that. Throws std::runtime_error where it cannot be read.
    void send_next();

private:
    int socket_;
    std::uint32_t identifier_;
    std::uint16_t sequence_;
    std::uint32_t timestamp_;
    std::unique_ptr<Source> source_;
    std::vector<char> packet_;
    std::uint64_t begin_ns_ = 0;
    double interval_ns_ = 0;
    std::size_t sent_ = 0;
    std::size_t left_ = 0;
};

}  // namespace s80::rtp
