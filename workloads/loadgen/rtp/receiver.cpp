// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp/receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace s80::loadgen {

namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kLongestPacket = 2048;
/// Version 2 without padding, extension and contributing sources; the type without a marker.
constexpr unsigned char kFirstByte = 0x80, kSecondByte = media::kPayloadType;

template <typename Number>
Number read(const char* at) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (sizeof value == 2) {
        return ntohs(value);
    }
    return ntohl(value);
}

}  // namespace

unsigned RtpReceiver::open() {
    close();
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in own = {};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof own;
    if (socket_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&own), size) != 0) {
        throw Fatal(std::string("no socket for a stream: ") + std::strerror(errno));
    }
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
}

void RtpReceiver::close() {
    if (socket_ < 0) {
        return;
    }
    world_.loop.remove(socket_, *this);
    ::close(socket_);
    socket_ = -1;
}

Task RtpReceiver::receive(Played played, StreamStart start) {
    played_ = played;
    start_ = start;
    next_ = received_ = late_ = 0;
    first_ns_.reset();
    failure_.reset();
    jitter_.begin_stream();
    // What has come already waits in the socket.
    world_.loop.add(socket_, EPOLLIN, *this);
    world_.timers.arm(end_, world_.clock.now() + stamp_ns(played.packets) + world_.job.late_ns());
    co_await end_;
    const unsigned lost = played.packets - std::min(received_, played.packets);
    world_.statistics.streamed(lost, late_, jitter_.value_ns());
    if (lost > 0) {
        fault(ErrorKind::protocol, std::to_string(lost) + " packets did not come");
    }
    if (failure_) {
        throw *failure_;
    }
}

void RtpReceiver::on_io(std::uint32_t /*events*/) {
    std::array<char, kLongestPacket> packet;
    const ssize_t got = recv(socket_, packet.data(), packet.size(), MSG_TRUNC);
    if (got >= 0) {
        take(std::span(packet).first(std::min(static_cast<std::size_t>(got), packet.size())));
    }
}

void RtpReceiver::take(std::span<const char> packet) {
    bytes_in_ += packet.size();
    const std::size_t payload_bytes = played_.medium.packet_bytes();
    if (packet.size() != kHeaderBytes + payload_bytes) {
        return fault(ErrorKind::protocol, "a packet of " + std::to_string(packet.size()) + " bytes and not " +
                                              std::to_string(kHeaderBytes + payload_bytes));
    }
    if (static_cast<unsigned char>(packet[0]) != kFirstByte ||
        static_cast<unsigned char>(packet[1]) != kSecondByte ||
        read<std::uint32_t>(&packet[8]) != start_.identifier) {
        return fault(ErrorKind::protocol, "a packet that is not of the stream");
    }
    const auto place = static_cast<std::uint16_t>(read<std::uint16_t>(&packet[2]) - start_.sequence);
    if (place >= played_.packets) {
        return fault(ErrorKind::protocol, "a packet before or behind what is played");
    }
    if (place != next_) {
        fault(ErrorKind::protocol, at(place) + " came in the place of " + at(next_));
    }
    next_ = place + 1u;
    if (read<std::uint32_t>(&packet[4]) != start_.timestamp + place * media::kPacketTicks) {
        fault(ErrorKind::protocol, at(place) + " has the timestamp of another");
    }
    std::array<char, kLongestPacket> expected;
    const std::span<char> payload = std::span(expected).first(payload_bytes);
    played_.medium.copy((played_.first + place) * payload_bytes, payload);
    if (std::memcmp(&packet[kHeaderBytes], payload.data(), payload_bytes) != 0) {
        fault(ErrorKind::missing, at(place) + " does not hold what it must");
    }

    const std::uint64_t now = world_.clock.now(), stamp = stamp_ns(place);
    if (!first_ns_) {
        first_ns_ = now - stamp;
    }
    if (now > *first_ns_ + stamp + world_.job.late_ns()) {
        ++late_;
        fault(ErrorKind::protocol, at(place) + " came too late");
    }
    world_.statistics.packet(payload_bytes, jitter_.add(now, stamp));
    // The last packet is heard to its end.
    if (++received_ == played_.packets) {
        world_.timers.arm(end_, *first_ns_ + stamp_ns(played_.packets));
    }
}

void RtpReceiver::fault(ErrorKind kind, const std::string& what) {
    if (!failure_) {
        failure_.emplace(kind, played_.medium.path() + ": " + what);
    }
}

std::string RtpReceiver::at(unsigned place) const {
    return "packet " + std::to_string(played_.first + place);
}

}  // namespace s80::loadgen
