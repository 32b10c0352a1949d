// SPDX-License-Identifier: GPL-2.0-or-later
// An RTP stream (RFC 3550) to one client: the packets of a part of a medium, each sent when it is due by the
// machine's clock.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "source.h"

namespace s80::rtp {

/// Nanoseconds of the monotonic clock.
std::uint64_t now_ns();

class Stream {
public:
    /// Opens the socket that sends to `client`. `number` determines the identifier, the first sequence number
    /// and the first timestamp, which RFC 3550 wants to be random. Throws std::runtime_error if there is no
    /// socket.
    Stream(const sockaddr_in& client, std::uint64_t number);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    std::uint16_t port() const;
    std::uint32_t identifier() const { return identifier_; }
    std::uint16_t sequence() const { return sequence_; }
    std::uint32_t timestamp() const { return timestamp_; }

    /// Sets what is played next. The first packet is due now. speed: a multiple of the medium's own.
    void play(std::unique_ptr<Source> source, std::size_t packets, double speed);
    bool playing() const { return left_ > 0; }
    /// When the next packet is due, while the stream plays.
    std::uint64_t due_ns() const;
    /// Sends the next packet. Throws std::runtime_error if it cannot be read.
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
