// SPDX-License-Identifier: GPL-2.0-or-later
// An RTSP connection (RFC 2326) over which one medium is played once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "connection.h"
#include "medium.h"
#include "rtp/receiver.h"
#include "task.h"

namespace s80::loadgen {

class RtspSession final : public Connection {
public:
    RtspSession(Network& network, const Endpoint& server);

    // Each throws Failure unless it is answered with 200 and what it must be answered with.
    Task options();
    /// Requests the description of a medium, of which `packets` will be played.
    Task describe(media::Medium medium, unsigned packets);
    /// port: the destination of its packets.
    Task set_up(unsigned port);
    /// speed: a multiple of the medium's own speed, on the server's clock.
    Task play(unsigned first, unsigned packets, double speed);
    Task tear_down();

    /// Packets of the medium, after describe().
    unsigned packets() const { return packets_; }
    /// The expected begin of the stream, after play().
    const StreamStart& start() const { return start_; }

private:
    enum class State { status, header, body };

    Task request(std::string_view method, std::string headers);
    std::size_t consume(std::string_view bytes) override;
    void on_line(std::string_view line);
    void on_headers_end();
    /// A header of the reply. Throws a Failure that names the header if it is missing.
    const std::string& header(const std::string& name) const;
    /// The number after `key` in a text, in that base. Throws Failure if there is none.
    std::uint32_t number(std::string_view text, std::string_view key, int base = 10) const;
    Failure wrong(const std::string& what) const;

    std::string host_;
    std::string url_;
    std::string what_;  // the request, for messages
    unsigned sequence_ = 0;
    std::string id_;
    unsigned packets_ = 0;
    StreamStart start_;

    State state_ = State::status;
    std::string status_;
    std::map<std::string, std::string> headers_;  // names in small letters
    std::size_t left_ = 0;                        // of the body
    std::string body_;
};

}  // namespace s80::loadgen
