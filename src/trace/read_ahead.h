// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture on its own thread, some epochs ahead of the timing merger: reading takes a third of the
// time of a full capture's replay. It brings nothing if every core of the host has its own replay.
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
    /// The reader belongs to this object during its lifetime.
    explicit ReadAhead(Reader& reader);
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// As Reader::next. An exception of the reader is thrown here, after the epochs before it.
    bool next(model::Epoch& epoch);

private:
    /// Enough that neither side waits for a single long epoch.
    static constexpr std::size_t kAhead = 16;

    void run();

    Reader& reader_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<model::Epoch> ring_;  ///< by number of the epoch
    std::size_t read_ = 0;
    std::size_t taken_ = 0;
    bool ended_ = false;  ///< no more epochs follow
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  ///< last member: it uses all others
};

}  // namespace s80::trace
