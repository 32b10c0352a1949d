// SPDX-License-Identifier: GPL-2.0-or-later
// Times for which coroutines wait, on the clock of the load.
#pragma once

#include <coroutine>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace s80::loadgen {

/// One place to wait: `co_await timer` suspends until the time for which the timer was armed.
class Timer {
public:
    bool waiting() const { return static_cast<bool>(waiter_); }

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
    void await_resume() const noexcept {}

private:
    friend class Timers;
    std::coroutine_handle<> waiter_;
    std::uint64_t armed_ = 0;  // number of the arming that counts; an older one in the queue is void
};

class Timers {
public:
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    /// Sets or changes the time of a timer.
    void arm(Timer& timer, std::uint64_t due_ns) {
        timer.armed_ = ++armings_;
        queue_.push({due_ns, timer.armed_, &timer});
    }

    /// Resumes all whose time has come, the earliest first.
    void fire(std::uint64_t now_ns) {
        while (!queue_.empty() && queue_.top().due_ns <= now_ns) {
            const Entry entry = queue_.top();
            queue_.pop();
            if (entry.timer->armed_ == entry.arming && entry.timer->waiter_) {
                std::exchange(entry.timer->waiter_, nullptr).resume();
            }
        }
    }

    std::uint64_t next() const { return queue_.empty() ? kNever : queue_.top().due_ns; }

private:
    struct Entry {
        std::uint64_t due_ns;
        std::uint64_t arming;
        Timer* timer;
        bool operator>(const Entry& other) const {
            return due_ns != other.due_ns ? due_ns > other.due_ns : arming > other.arming;
        }
    };

    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
    std::uint64_t armings_ = 0;
};

}  // namespace s80::loadgen
