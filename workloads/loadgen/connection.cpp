// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace s80::loadgen {

namespace {

/// What is read of one connection before the others, the clock and the timeouts are looked at again.
constexpr std::size_t kMostAtOnce = 1 << 20;

/// The longest line of a server, in bytes: a limit of memory, not of a protocol.
constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

void Network::check_timeouts() {
    const std::uint64_t now = clock.now();
    if (now - last_check_ns_ < reply_timeout_ns_ / 20) {
        return;
    }
    last_check_ns_ = now;
    const std::vector<Connection*> all = connections_;  // a resumed waiter may open and close others
    for (Connection* connection : all) {
        if (std::find(connections_.begin(), connections_.end(), connection) == connections_.end()) {
            continue;
        }
        if (!connection->waiter_ || now - connection->waiting_since_ns_ < reply_timeout_ns_) {
            continue;
        }
        connection->fail(Failure(ErrorKind::connection, "no reply from " + connection->peer_ + " for " +
                                                            std::to_string(reply_timeout_ns_ / 1'000'000) +
                                                            " ms to " + connection->what_));
        connection->resume_waiter();
    }
}

Connection::Connection(Network& network) : network_(network) {
    network_.connections_.push_back(this);
}

Connection::~Connection() {
    close();
    std::erase(network_.connections_, this);
}

void Connection::open(const Endpoint& to, const TlsContext* tls) {
    peer_ = to.text;
    stream_.open(to, tls);
    interest_ = EPOLLIN | EPOLLOUT;
    network_.loop.add(stream_.fd(), interest_, *this);
}

void Connection::close() {
    if (stream_.fd() < 0) {
        return;
    }
    network_.loop.remove(stream_.fd(), *this);
    stream_.close();
}

void Connection::send(std::string_view bytes, std::string_view what) {
    what_ = what;
    if (failure_) {
        return;  // the wait that follows throws it
    }
    try {
        stream_.write(bytes);
        traffic_.out += bytes.size();
        update_interest();
    } catch (const Failure& failure) {
        fail(failure);
    }
}

void Connection::on_io(std::uint32_t events) {
    try {
        bool readable = unread_ || (events & ~EPOLLOUT) != 0;
        if (!stream_.established()) {
            readable = stream_.advance();  // TLS may have read data behind the handshake already
        } else if ((events & EPOLLOUT) != 0) {
            stream_.flush();
        }
        if (readable) {
            receive();
        }
        update_interest();
    } catch (const Failure& failure) {
        fail(failure);
    }
    if (failure_ && !waiter_ && on_lost_) {
        on_lost_();
    }
    if (complete_ || failure_) {
        resume_waiter();  // last: the waiter may destroy this connection
    }
}

void Connection::receive() {
    std::vector<char>& scratch = network_.scratch_;
    const std::uint64_t limit = traffic_.in + kMostAtOnce;
    unread_ = false;
    for (;;) {
        const std::size_t kept = partial_.size();
        if (kept > kLongestLine) {
            throw Failure(ErrorKind::protocol, peer_ + " sent a line of more than 1 MiB", true);
        }
        const bool is_long = kept > scratch.size() / 2;  // such a line grows in a buffer of its own
        const std::size_t got = stream_.read(std::span(scratch).subspan(is_long ? 0 : kept));
        if (got == 0) {
            return;
        }
        traffic_.in += got;
        if (is_long) {
            partial_.append(scratch.data(), got);
            partial_.erase(0, consume(partial_));
        } else {
            std::memcpy(scratch.data(), partial_.data(), kept);
            const std::string_view bytes(scratch.data(), kept + got);
            partial_.assign(bytes.substr(consume(bytes)));
        }
        // What comes behind a reply can wait: often it is the end of the connection, and to throw is
        // expensive.
        if (complete_) {
            return;
        }
        if (traffic_.in >= limit) {
            unread_ = true;  // perhaps within TLS, where the loop does not see it
            return;
        }
    }
}

void Connection::update_interest() {
    // A socket can nearly always be written to: that calls for what is left unread.
    const std::uint32_t wanted = EPOLLIN | (stream_.wants_to_write() || unread_ ? EPOLLOUT : 0u);
    if (wanted == interest_) {
        return;
    }
    interest_ = wanted;
    network_.loop.change(stream_.fd(), wanted, *this);
}

void Connection::fail(const Failure& failure) {
    close();
    std::string words = last_words_;
    if (!partial_.empty()) {
        words.append(words.empty() ? "" : ", ").append(partial_);
    }
    if (failure.kind() != ErrorKind::connection || words.empty()) {
        failure_ = failure;
    } else {
        failure_.emplace(failure.kind(), failure.what() + ("; its last words: " + words), failure.fatal());
    }
}

void Connection::resume_waiter() {
    if (waiter_) {
        std::exchange(waiter_, nullptr).resume();
    }
}

void Connection::Wait::await_suspend(std::coroutine_handle<> waiter) {
    connection.waiter_ = waiter;
    connection.waiting_since_ns_ = connection.network_.clock.now();
}

void Connection::Wait::await_resume() {
    if (connection.complete_) {
        connection.complete_ = false;
    } else {
        throw *connection.failure_;
    }
}

}  // namespace s80::loadgen
