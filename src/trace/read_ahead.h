// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture on a thread of its own, some epochs ahead of the timing merger: without it, reading takes a
// third of the time of a full capture's replay. It has no benefit if each core of the host already executes a
// replay.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "stream/epoch.h"
#include "trace/reader.h"

namespace s80::trace {

class ReadAhead {
public:
    /// `reader` must outlive this object, and no other code may use it in the meantime.
    explicit ReadAhead(Reader& reader);
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// Like Reader::next. If the reader throws an exception, throws it after all epochs before the error have
    /// been returned.
    bool next(model::Epoch& epoch);

private:
    /// Number of epochs in the ring: enough that one long epoch does not make either thread wait.
    static constexpr std::size_t kAhead = 16;

    void run();

    Reader& reader_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<model::Epoch> ring_;  ///< storage of the epochs: number n is at n modulo kAhead
    std::size_t read_ = 0;
    std::size_t taken_ = 0;
    bool ended_ = false;  ///< the reader has no more epochs
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  ///< last member, because the thread uses all others
};

}  // namespace s80::trace
