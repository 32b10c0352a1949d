// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_loop.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "failure.h"

namespace s80::loadgen {

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) {
        throw Fatal(std::string("epoll is not available: ") + std::strerror(errno));
    }
}

EventLoop::~EventLoop() {
    close(epoll_);
}

void EventLoop::add(int fd, std::uint32_t events, IoHandler& handler) {
    epoll_event event{events, {&handler}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
        throw Fatal(std::string("epoll refused a connection: ") + std::strerror(errno));
    }
}

void EventLoop::change(int fd, std::uint32_t events, IoHandler& handler) {
    epoll_event event{events, {&handler}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::remove(int fd, const IoHandler& handler) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    for (int i = 0; i < ready_count_; ++i) {
        if (ready_[static_cast<std::size_t>(i)].data.ptr == &handler) {
            ready_[static_cast<std::size_t>(i)].data.ptr = nullptr;
        }
    }
}

void EventLoop::wait(std::uint64_t timeout_ns) {
    const timespec timeout = {static_cast<std::time_t>(timeout_ns / 1'000'000'000),
                              static_cast<long>(timeout_ns % 1'000'000'000)};
    ready_count_ = epoll_pwait2(epoll_, ready_.data(), static_cast<int>(ready_.size()), &timeout, nullptr);
    if (ready_count_ < 0) {
        if (errno != EINTR) {
            throw Fatal(std::string("epoll_pwait2 failed: ") + std::strerror(errno));
        }
        ready_count_ = 0;
    }
}

void EventLoop::dispatch() {
    for (int i = 0; i < ready_count_; ++i) {
        const epoll_event event = ready_[static_cast<std::size_t>(i)];
        if (event.data.ptr != nullptr) {
            static_cast<IoHandler*>(event.data.ptr)->on_io(event.events);
        }
    }
    ready_count_ = 0;
}

}  // namespace s80::loadgen
