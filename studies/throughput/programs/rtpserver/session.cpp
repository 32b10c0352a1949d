// SPDX-License-Identifier: GPL-2.0-or-later
#include "session.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace s80::rtp {

namespace {

constexpr std::size_t kLongestRequest = 8192;

constexpr const char* kNotFound = "404 Not Found";
constexpr const char* kNoSession = "454 Session Not Found";
constexpr const char* kNotNow = "455 Method Not Valid in This State";

}  // namespace

Session::Session(int socket, std::uint64_t number, const Settings& settings)
    : socket_(socket), number_(number), settings_(settings) {}

Session::~Session() {
    close(socket_);
}

void Session::run() {
    for (;;) {
        if (await() && !receive()) {
            return;
        }
        while (const auto request = take_request(received_)) {
            handle(*request);
        }
        if (stream_ && stream_->playing() && now_ns() >= stream_->due_ns()) {
            stream_->send_next();
        }
    }
}

bool Session::await() const {
    pollfd waiting = {socket_, POLLIN, 0};
    timespec left = {};
    const bool playing = stream_ && stream_->playing();
    if (playing) {
        const std::uint64_t now = now_ns(), due = stream_->due_ns();
        const std::uint64_t wait = due > now ? due - now : 0;
        left = {static_cast<std::time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
    }
    return ppoll(&waiting, 1, playing ? &left : nullptr, nullptr) > 0;
}

bool Session::receive() {
    char bytes[2048];
    const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) {
        return got < 0 && errno == EINTR;
    }
    received_.append(bytes, static_cast<std::size_t>(got));
    return received_.size() <= kLongestRequest;
}

void Session::handle(const Request& request) {
    if (request.method.empty() || request.header("cseq").empty()) {
        reply(request, "400 Bad Request");
    } else if (request.method == "OPTIONS") {
        reply(request, "200 OK", "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n");
    } else if (request.method == "DESCRIBE") {
        describe(request);
    } else if (request.method == "SETUP") {
        set_up(request);
    } else if (request.method == "PLAY") {
        play(request);
    } else if (request.method == "TEARDOWN") {
        tear_down(request);
    } else {
        reply(request, "501 Not Implemented");
    }
}

void Session::describe(const Request& request) {
    const auto medium = medium_of(request);
    if (!medium) {
        return reply(request, kNotFound);
    }
    const std::string type = std::to_string(media::kPayloadType);
    reply(request, "200 OK", "Content-Type: application/sdp\r\n",
          "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=" + request.path +
              "\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=range:npt=0-" +
              seconds_text(packets_of(*medium) * media::kPacketMs) + "\r\nm=audio 0 RTP/AVP " + type +
              "\r\nb=AS:" + std::to_string(medium->rate_kbps) + "\r\na=rtpmap:" + type + " X-S80/" +
              std::to_string(media::kClockHz) + "\r\na=ptime:" + std::to_string(media::kPacketMs) + "\r\n");
}

void Session::set_up(const Request& request) {
    const auto medium = medium_of(request);
    if (!medium) {
        return reply(request, kNotFound);
    }
    if (stream_) {
        return reply(request, kNotNow);
    }
    const auto port = parse_client_port(request.header("transport"));
    if (!port) {
        return reply(request, "461 Unsupported Transport");
    }
    sockaddr_in client = {};
    socklen_t size = sizeof client;
    if (getpeername(socket_, reinterpret_cast<sockaddr*>(&client), &size) != 0) {
        return;  // it has gone
    }
    client.sin_port = htons(*port);
    stream_.emplace(client, number_);
    medium_ = medium;
    char identifier[16];
    std::snprintf(identifier, sizeof identifier, "%08X", stream_->identifier());
    reply(request, "200 OK",
          "Session: " + std::to_string(number_) +
              "\r\nTransport: RTP/AVP;unicast;client_port=" + std::to_string(*port) +
              ";server_port=" + std::to_string(stream_->port()) + ";ssrc=" + identifier + "\r\n");
}

void Session::play(const Request& request) {
    if (!about_stream(request)) {
        return;
    }
    if (stream_->playing()) {
        return reply(request, kNotNow);
    }
    const auto range = parse_range(request.header("range"));
    const auto speed = parse_speed(request.header("speed"));
    if (!speed) {
        return reply(request, "451 Parameter Not Understood");
    }
    const std::size_t packets = packets_of(*medium_);
    const std::size_t first = range ? range->begin_ms / media::kPacketMs : packets;
    const std::size_t end = range && range->end_ms ? *range->end_ms / media::kPacketMs : packets;
    if (first >= end || end > packets) {
        return reply(request, "457 Invalid Range");
    }
    auto source =
        open_source({file_of(*medium_), medium_->packet_bytes(), first, end - first}, settings_.buffers);
    reply(request, "200 OK",
          "Session: " + std::to_string(number_) + "\r\nRange: npt=" + seconds_text(first * media::kPacketMs) +
              "-" + seconds_text(end * media::kPacketMs) + "\r\nSpeed: " + std::to_string(*speed) +
              "\r\nRTP-Info: url=" + request.path + ";seq=" + std::to_string(stream_->sequence()) +
              ";rtptime=" + std::to_string(stream_->timestamp()) + "\r\n");
    stream_->play(std::move(source), end - first, *speed);
}

void Session::tear_down(const Request& request) {
    if (!about_stream(request)) {
        return;
    }
    stream_.reset();
    reply(request, "200 OK");
}

std::optional<media::Medium> Session::medium_of(const Request& request) const {
    const auto medium = media::parse_medium(request.path);
    return medium && packets_of(*medium) > 0 ? medium : std::nullopt;
}

std::size_t Session::packets_of(const media::Medium& medium) const {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(file_of(medium), absent);
    return absent ? 0 : bytes / medium.packet_bytes();
}

bool Session::about_stream(const Request& request) {
    const bool good = stream_ && request.header("session") == std::to_string(number_);
    if (!good) {
        reply(request, kNoSession);
    }
    return good;
}

void Session::reply(const Request& request, const std::string& status, const std::string& headers,
                    const std::string& body) {
    const std::string length = body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    const std::string text = "RTSP/1.0 " + status + "\r\nCSeq: " + request.header("cseq") + "\r\n" + headers +
                             length + "\r\n" + body;
    // A reply is far smaller than what a socket takes; of a client that has gone receive() tells.
    send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace s80::rtp
