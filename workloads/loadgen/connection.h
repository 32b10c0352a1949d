// SPDX-License-Identifier: GPL-2.0-or-later
// A connection on which a coroutine sends a request and waits for the answer. The wait ends with a Failure
// if the connection is lost, the reply does not parse, or no reply arrives within the limit.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.h"
#include "event_loop.h"
#include "failure.h"
#include "stream.h"
#include "traffic.h"

namespace s80::loadgen {

class Connection;

/// The data that all connections share: the event loop, the clock, and the time limit for replies.
class Network {
public:
    Network(EventLoop& loop, const Clock& clock) : loop(loop), clock(clock) {}

    void set_reply_timeout(double seconds) {
        reply_timeout_ns_ = static_cast<std::uint64_t>(seconds * static_cast<double>(kNsPerS));
    }
    /// Ends the waits that have exceeded the limit. It is cheap: it checks the connections 20 times per
    /// limit.
    void check_timeouts();

    EventLoop& loop;
    const Clock& clock;

private:
    friend class Connection;
    std::uint64_t reply_timeout_ns_ = 60 * kNsPerS;
    std::uint64_t last_check_ns_ = 0;  // later than now if the job has changed the clock's shift
    std::vector<Connection*> connections_;
    std::vector<char> scratch_ = std::vector<char>(65536);  // one read buffer for all: it stays cached
};

class Connection : public IoHandler {
public:
    explicit Connection(Network& network);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void open(const Endpoint& to, const TlsContext* tls);
    void close();

    const Traffic& traffic() const { return traffic_; }

    /// Calls `action` if the connection fails while no coroutine waits for an answer. The next wait throws
    /// the Failure in any case.
    void when_lost(std::function<void()> action) { on_lost_ = std::move(action); }

    void on_io(std::uint32_t events) final;

protected:
    ~Connection();

    /// Takes the bytes that arrived and returns how many it consumed. The rest is offered again, followed by
    /// more.
    virtual std::size_t consume(std::string_view bytes) = 0;

    /// `what` names the request in messages. It must stay valid until the answer has arrived.
    void send(std::string_view bytes, std::string_view what);
    /// Called by consume(): the answer for which the coroutine waits has arrived.
    void complete() { complete_ = true; }
    /// Drops an answer for which no coroutine has waited.
    void forget_answer() { complete_ = false; }
    /// Called by consume(): this many of the received bytes belong to a body (HTTP).
    void took_body(std::size_t bytes) { traffic_.body += bytes; }

    struct Wait {
        Connection& connection;
        bool await_ready() const { return connection.complete_ || connection.failure_.has_value(); }
        void await_suspend(std::coroutine_handle<> waiter);
        void await_resume();
    };
    /// Suspends until complete(), or throws the Failure that prevented it.
    Wait answer() { return {*this}; }

    std::string last_words_;  // a warning of the server, for the message of a connection that is lost

private:
    friend class Network;

    void receive();
    void update_interest();
    void fail(const Failure& failure);
    void resume_waiter();

    Network& network_;
    Stream stream_;
    std::string peer_;
    std::string what_ = "the connect";
    std::string partial_;  // an incomplete line
    std::function<void()> on_lost_;
    std::uint32_t interest_ = 0;
    Traffic traffic_;
    bool complete_ = false;
    bool unread_ = false;  // more has come than was read in its turn
    std::optional<Failure> failure_;
    std::coroutine_handle<> waiter_;
    std::uint64_t waiting_since_ns_ = 0;
};

}  // namespace s80::loadgen
