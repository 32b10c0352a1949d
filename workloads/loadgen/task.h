// SPDX-License-Identifier: GPL-2.0-or-later
// A coroutine that runs when it is started or awaited, and passes its exception to the awaiting coroutine.
// Sessions and transactions use it, so that their code follows the order of the protocol.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace s80::loadgen {

class [[nodiscard]] Task {
public:
    struct promise_type {
        std::coroutine_handle<> continuation = std::noop_coroutine();
        std::exception_ptr error;

        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct Resume {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                    return ended.promise().continuation;
                }
                void await_resume() noexcept {}
            };
            return Resume{};
        }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }
    };

    Task() = default;
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }

    /// Runs a task that no coroutine awaits, up to its first wait. Its owner checks done() and error().
    void start() { handle_.resume(); }
    bool done() const { return handle_.done(); }
    std::exception_ptr error() const { return handle_.promise().error; }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle_.promise().continuation = caller;
        return handle_;
    }
    void await_resume() const {
        if (handle_.promise().error) {
            std::rethrow_exception(handle_.promise().error);
        }
    }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

}  // namespace s80::loadgen
