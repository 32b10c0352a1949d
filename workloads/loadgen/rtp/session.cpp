// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp/session.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "lines.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kLongestBody = 4096;

std::string seconds(std::uint64_t ms) {
    char text[32];
    std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ms / 1000),
                  static_cast<unsigned>(ms % 1000));
    return text;
}

}  // namespace

RtspSession::RtspSession(Network& network, const Endpoint& server)
    : Connection(network), host_(server.text), url_("*") {
    open(server, nullptr);
}

Task RtspSession::options() {
    co_await request("OPTIONS", "");
    for (const std::string_view method : {"DESCRIBE", "SETUP", "PLAY", "TEARDOWN"}) {
        if (header("public").find(method) == std::string::npos) {
            throw wrong("has no " + std::string(method));
        }
    }
}

Task RtspSession::describe(media::Medium medium, unsigned packets) {
    url_ = "rtsp://" + host_ + "/" + medium.path();
    co_await request("DESCRIBE", "Accept: application/sdp\r\n");
    const std::string type = std::to_string(media::kPayloadType);
    for (const std::string& line : {"m=audio 0 RTP/AVP " + type, "b=AS:" + std::to_string(medium.rate_kbps),
                                    "a=rtpmap:" + type + " X-S80/" + std::to_string(media::kClockHz)}) {
        if (body_.find("\r\n" + line + "\r\n") == std::string::npos) {
            throw wrong("has no line " + line);
        }
    }
    const unsigned whole = number(body_, "\r\na=range:npt=0-"),
                   rest = number(body_, "\r\na=range:npt=0-" + std::to_string(whole) + ".");
    packets_ = (whole * 1000 + rest) / media::kPacketMs;
    if (packets_ < packets) {
        throw wrong("is of a medium of " + std::to_string(packets_) +
                    " packets, shorter than is to be played");
    }
}

Task RtspSession::set_up(unsigned port) {
    co_await request("SETUP", "Transport: RTP/AVP;unicast;client_port=" + std::to_string(port) + "\r\n");
    id_ = header("session").substr(0, header("session").find(';'));
    start_.identifier = number(header("transport"), ";ssrc=", 16);
}

Task RtspSession::play(unsigned first, unsigned packets, double speed) {
    const std::string range = "npt=" + seconds(std::uint64_t{first} * media::kPacketMs) + "-" +
                              seconds((std::uint64_t{first} + packets) * media::kPacketMs);
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", speed);
    co_await request("PLAY", "Session: " + id_ + "\r\nRange: " + range + "\r\nSpeed: " + text + "\r\n");
    if (header("range") != range) {
        throw wrong("plays " + header("range") + " instead of " + range);
    }
    start_.sequence = static_cast<std::uint16_t>(number(header("rtp-info"), ";seq="));
    start_.timestamp = number(header("rtp-info"), ";rtptime=");
}

Task RtspSession::tear_down() {
    co_await request("TEARDOWN", "Session: " + id_ + "\r\n");
}

Task RtspSession::request(std::string_view method, std::string headers) {
    what_ = std::string(method) + " " + url_;
    state_ = State::status;
    headers_.clear();
    body_.clear();
    send(what_ + " RTSP/1.0\r\nCSeq: " + std::to_string(++sequence_) + "\r\n" + headers + "\r\n", what_);
    co_await answer();
    if (header("cseq") != std::to_string(sequence_)) {
        throw wrong("is to another request: CSeq " + header("cseq"));
    }
    if (status_ != "200 OK") {
        throw wrong("is " + status_);
    }
}

std::size_t RtspSession::consume(std::string_view bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (state_ == State::body) {
            const std::size_t part = std::min(left_, bytes.size() - at);
            if (part == 0) {
                throw Failure(ErrorKind::protocol, "more than was announced came for " + what_, true);
            }
            body_.append(bytes.substr(at, part));
            at += part;
            left_ -= part;
            if (left_ == 0) {
                complete();
            }
            continue;
        }
        const auto line = take_line(bytes, at);
        if (!line) {
            break;
        }
        on_line(*line);
    }
    return at;
}

void RtspSession::on_line(std::string_view line) {
    if (state_ == State::status) {
        if (!line.starts_with("RTSP/1.0 ")) {
            throw Failure(ErrorKind::protocol, "not an RTSP reply: " + std::string(line.substr(0, 80)), true);
        }
        status_ = line.substr(9);
        state_ = State::header;
    } else if (!line.empty()) {
        const std::size_t colon = std::min(line.find(':'), line.size());
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        std::string_view value = line.substr(std::min(colon + 1, line.size()));
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        headers_[name] = value;
    } else {
        on_headers_end();
    }
}

void RtspSession::on_headers_end() {
    left_ = headers_.contains("content-length") ? number(header("content-length"), "") : 0;
    if (left_ > kLongestBody) {
        throw wrong("has a body of " + std::to_string(left_) + " bytes");
    }
    state_ = State::body;
    if (left_ == 0) {
        complete();
    }
}

const std::string& RtspSession::header(const std::string& name) const {
    const auto found = headers_.find(name);
    if (found == headers_.end()) {
        throw wrong("has no " + name);
    }
    return found->second;
}

std::uint32_t RtspSession::number(std::string_view text, std::string_view key, int base) const {
    std::uint32_t value = 0;
    const std::size_t at = text.find(key);
    if (at != std::string_view::npos) {
        const char* begin = text.data() + at + key.size();
        const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value, base);
        if (error == std::errc()) {
            return value;
        }
    }
    throw wrong("has no number behind '" + std::string(key) + "'");
}

Failure RtspSession::wrong(const std::string& what) const {
    return Failure(ErrorKind::protocol, "the reply to " + what_ + " " + what);
}

}  // namespace s80::loadgen
