// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/read_ahead.h"

#include <utility>

namespace s80::trace {

ReadAhead::ReadAhead(Reader& reader)
    : reader_(reader), ring_(kAhead, model::Epoch(reader.header().processors)), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool ReadAhead::next(model::Epoch& epoch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return read_ != taken_ || ended_; });
    if (read_ == taken_) {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return false;
    }
    // The ring gets the storage of the caller's last epoch.
    std::swap(epoch, ring_[taken_++ % kAhead]);
    lock.unlock();
    changed_.notify_all();
    return true;
}

void ReadAhead::run() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
        changed_.wait(lock, [this] { return read_ - taken_ < kAhead || stop_; });
        if (stop_) {
            return;
        }
        // The other thread does not use this element before read_ increases.
        model::Epoch& next = ring_[read_ % kAhead];
        lock.unlock();
        bool more = false;
        std::exception_ptr failure;
        try {
            more = reader_.next(next);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        read_ += more ? 1 : 0;
        ended_ = !more;
        failure_ = failure;
        changed_.notify_all();
    }
}

}  // namespace s80::trace
