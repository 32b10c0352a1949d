// SPDX-License-Identifier: GPL-2.0-or-later
// A client's connection: answers its RTSP requests, and sends its stream between requests. One thread waits
// for both.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>

#include "medium.h"
#include "request.h"
#include "stream.h"

namespace s80::rtp {

struct Settings {
    std::string root;  // of the media
    unsigned buffers;  // of a stream, 1 or 2
};

class Session {
public:
    /// The connection is closed at the end. number: from 1, different for each session.
    Session(int socket, std::uint64_t number, const Settings& settings);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Runs until the client has closed the connection.
    void run();

private:
    /// Waits for a request or until the next packet is due. Returns whether there is something to read.
    bool await() const;
    /// Reads from the client. Returns false if the client has closed the connection.
    bool receive();
    void handle(const Request& request);
    /// Each answers its request.
    void describe(const Request& request);
    void set_up(const Request& request);
    void play(const Request& request);
    void tear_down(const Request& request);

    std::optional<media::Medium> medium_of(const Request& request) const;
    std::string file_of(const media::Medium& medium) const { return settings_.root + "/" + medium.path(); }
    std::size_t packets_of(const media::Medium& medium) const;
    /// Whether the request is about the current stream. If not, answers the request with an error.
    bool about_stream(const Request& request);
    /// headers: complete lines.
    void reply(const Request& request, const std::string& status, const std::string& headers = {},
               const std::string& body = {});

    int socket_;
    std::uint64_t number_;
    const Settings& settings_;
    std::string received_;
    std::optional<media::Medium> medium_;  // that was set up
    std::optional<Stream> stream_;
};

}  // namespace s80::rtp
