// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <utility>

#include "medium.h"

namespace s80::rtp {

namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr unsigned kVersion2 = 0x80;  // without padding, extension and contributing sources

void put(char* at, std::uint16_t value) {
    value = htons(value);
    std::memcpy(at, &value, sizeof value);
}

void put(char* at, std::uint32_t value) {
    value = htonl(value);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::uint64_t now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

Stream::Stream(const sockaddr_in& client, std::uint64_t number)
    : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      identifier_(static_cast<std::uint32_t>(media::mixed(3 * number))),
      sequence_(static_cast<std::uint16_t>(media::mixed(3 * number + 1))),
      timestamp_(static_cast<std::uint32_t>(media::mixed(3 * number + 2))) {
    if (socket_ < 0 || connect(socket_, reinterpret_cast<const sockaddr*>(&client), sizeof client) != 0) {
        const std::string why = std::strerror(errno);
        if (socket_ >= 0) {
            close(socket_);
        }
        throw std::runtime_error("cannot open a socket for a stream: " + why);
    }
}

Stream::~Stream() {
    close(socket_);
}

std::uint16_t Stream::port() const {
    sockaddr_in own = {};
    socklen_t size = sizeof own;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
}

void Stream::play(std::unique_ptr<Source> source, std::size_t packets, double speed) {
    source_ = std::move(source);
    begin_ns_ = now_ns();
    interval_ns_ = media::kPacketMs * 1e6 / speed;
    sent_ = 0;
    left_ = packets;
}

std::uint64_t Stream::due_ns() const {
    return begin_ns_ + static_cast<std::uint64_t>(static_cast<double>(sent_) * interval_ns_);
}

void Stream::send_next() {
    const std::span<const char> payload = source_->next();
    packet_.resize(kHeaderBytes + payload.size());
    packet_[0] = static_cast<char>(kVersion2);
    packet_[1] = static_cast<char>(media::kPayloadType);
    put(&packet_[2], sequence_);
    put(&packet_[4], timestamp_);
    put(&packet_[8], identifier_);
    std::memcpy(&packet_[kHeaderBytes], payload.data(), payload.size());
    // A client that has gone, or is too slow, misses packets: that is what RTP over UDP is.
    send(socket_, packet_.data(), packet_.size(), MSG_NOSIGNAL);
    ++sequence_;
    timestamp_ += media::kPacketTicks;
    ++sent_;
    if (--left_ == 0) {
        source_.reset();
    }
}

}  // namespace s80::rtp
