// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for the network with epoll and calls the connections that are ready.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>

namespace s80::loadgen {

class IoHandler {
public:
    virtual void on_io(std::uint32_t events) = 0;

protected:
    ~IoHandler() = default;
};

class EventLoop {
public:
    EventLoop();
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    void add(int fd, std::uint32_t events, IoHandler& handler);
    void change(int fd, std::uint32_t events, IoHandler& handler);
    void remove(int fd, const IoHandler& handler);

    /// Waits for readiness until the timeout.
    void wait(std::uint64_t timeout_ns);
    bool ready() const { return ready_count_ > 0; }
    /// Calls the handlers of the ready connections. A handler may remove itself and others.
    void dispatch();

private:
    int epoll_;
    std::array<epoll_event, 64> ready_{};
    int ready_count_ = 0;
};

}  // namespace s80::loadgen
