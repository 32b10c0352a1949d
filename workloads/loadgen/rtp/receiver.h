// SPDX-License-Identifier: GPL-2.0-or-later
// The UDP socket that receives an RTP stream (RFC 3550). It checks every packet, counts missing and late
// packets, and measures jitter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "event_loop.h"
#include "failure.h"
#include "medium.h"
#include "rtp/jitter.h"
#include "task.h"
#include "timers.h"
#include "world.h"

namespace s80::loadgen {

/// The server's data about a stream before it begins.
struct StreamStart {
    std::uint32_t identifier = 0;  // SSRC
    std::uint16_t sequence = 0;    // of the first packet
    std::uint32_t timestamp = 0;
};

/// The part of a medium that is played: a number of packets from the first on.
struct Played {
    media::Medium medium;
    unsigned first;
    unsigned packets;
};

class RtpReceiver final : public IoHandler {
public:
    explicit RtpReceiver(World& world) : world_(world) {}
    ~RtpReceiver() { close(); }
    RtpReceiver(const RtpReceiver&) = delete;
    RtpReceiver& operator=(const RtpReceiver&) = delete;

    /// Opens a socket for the next stream and returns its port.
    unsigned open();
    void close();
    /// Receives the stream until it is complete or its last packet would be too late. Afterwards throws
    /// Failure for the first error.
    Task receive(Played played, StreamStart start);
    /// The bytes of all streams so far.
    std::uint64_t bytes_in() const { return bytes_in_; }

    void on_io(std::uint32_t events) override;

private:
    void take(std::span<const char> packet);
    /// Records an error, unless one was recorded before.
    void fault(ErrorKind kind, const std::string& what);
    std::string at(unsigned place) const;
    /// When the packet at that place is due, from the first on.
    static std::uint64_t stamp_ns(unsigned place) {
        return std::uint64_t{place} * media::kPacketMs * 1'000'000;
    }

    World& world_;
    Jitter jitter_;
    int socket_ = -1;
    Timer end_;
    std::uint64_t bytes_in_ = 0;

    // Of the stream that comes.
    Played played_{};
    StreamStart start_;
    unsigned next_ = 0;      // place of the packet that must come next
    unsigned received_ = 0;  // packets, in whatever order
    unsigned late_ = 0;
    std::optional<std::uint64_t> first_ns_;  // when the first came, or would have, by the first that did
    std::optional<Failure> failure_;
};

}  // namespace s80::loadgen
