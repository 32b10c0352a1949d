// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "failure.h"

namespace s80::loadgen {

Endpoint parse_endpoint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string host(text.substr(0, colon));
    unsigned short port = 0;
    Endpoint endpoint;
    endpoint.text = text;
    endpoint.address.sin_family = AF_INET;
    bool good =
        colon != std::string_view::npos && inet_pton(AF_INET, host.c_str(), &endpoint.address.sin_addr) == 1;
    if (good) {
        const auto [end, error] = std::from_chars(&text[colon] + 1, text.data() + text.size(), port);
        good = error == std::errc() && end == text.data() + text.size() && port != 0;
    }
    if (!good) {
        throw Fatal("'" + std::string(text) +
                    "' is not a server address: give IPV4:PORT, for example 127.0.0.1:993");
    }
    endpoint.address.sin_port = htons(port);
    return endpoint;
}

void Stream::open(const Endpoint& to, const TlsContext* tls) {
    close();
    peer_ = to.text;
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) {
        lost(std::strerror(errno));
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls != nullptr) {
        ssl_ = tls->connection(fd_);
    }
    const auto* address = reinterpret_cast<const sockaddr*>(&to.address);
    connected_ = connect(fd_, address, sizeof to.address) == 0;
    if (!connected_ && errno != EINPROGRESS) {
        lost(std::strerror(errno));
    }
    wants_write_ = true;
}

void Stream::close() {
    SSL_free(ssl_);
    ssl_ = nullptr;
    if (fd_ >= 0) {
        ::close(fd_);
    }
    fd_ = -1;
    connected_ = established_ = wants_write_ = false;
    pending_.clear();
}

bool Stream::advance() {
    if (!connected_) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            lost(std::strerror(error));
        }
        connected_ = true;
    }
    wants_write_ = false;
    if (ssl_ != nullptr) {
        const int result = SSL_connect(ssl_);
        if (result != 1 && must_wait(result)) {
            return false;
        }
    }
    established_ = true;
    return true;
}

std::size_t Stream::read(std::span<char> into) {
    if (ssl_ != nullptr) {
        const int got = SSL_read(ssl_, into.data(), static_cast<int>(into.size()));
        if (got > 0) {
            return static_cast<std::size_t>(got);
        }
        must_wait(got);
        return 0;
    }
    const ssize_t got = ::read(fd_, into.data(), into.size());
    if (got > 0) {
        return static_cast<std::size_t>(got);
    }
    if (got == 0) {
        lost("the server closed the connection");
    }
    if (errno != EAGAIN && errno != EINTR) {
        lost(std::strerror(errno));
    }
    return 0;
}

std::size_t Stream::write_some(std::string_view bytes) {
    if (ssl_ != nullptr) {
        wants_write_ = false;
        const int sent = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
        if (sent > 0) {
            return static_cast<std::size_t>(sent);
        }
        must_wait(sent);
        return 0;
    }
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
        return static_cast<std::size_t>(sent);
    }
    if (errno != EAGAIN && errno != EINTR) {
        lost(std::strerror(errno));
    }
    return 0;
}

void Stream::write(std::string_view bytes) {
    if (!established_ || !pending_.empty()) {
        pending_ += bytes;
        return;
    }
    while (!bytes.empty()) {
        const std::size_t sent = write_some(bytes);
        if (sent == 0) {
            break;
        }
        bytes.remove_prefix(sent);
    }
    pending_ = bytes;
}

void Stream::flush() {
    std::size_t done = 0;
    while (done < pending_.size()) {
        const std::size_t sent = write_some(std::string_view(pending_).substr(done));
        if (sent == 0) {
            break;
        }
        done += sent;
    }
    pending_.erase(0, done);
}

void Stream::lost(const std::string& what) const {
    throw Failure(ErrorKind::connection, "connection to " + peer_ + ": " + what);
}

}  // namespace s80::loadgen
