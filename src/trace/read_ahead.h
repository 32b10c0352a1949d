// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture on its own thread, some epochs ahead of the timing merger: reading takes a third of the
// time of a full capture's replay. Reading ahead has no benefit if every core of the host runs a replay of
// its own.
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

    /// Like Reader::next. Throws an exception of the reader after it has returned the epochs before the
    /// error.
    bool next(model::Epoch& epoch);

private:
    /// So many epochs that one long epoch makes neither side wait.
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
