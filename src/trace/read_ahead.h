// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture on a thread of its own, some windows ahead of who plays them: reading a full capture takes
// a third of the time of its replay. Not worth it where every core of the host has a replay of its own.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "model/window.h"
#include "trace/reader.h"

namespace s80::trace {

class ReadAhead {
public:
    /// From now until its end the reader is this object's.
    explicit ReadAhead(Reader& reader);
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    /// As Reader::next; what the reader threw is thrown here, behind the windows before it.
    bool next(model::Window& window);

private:
    /// Enough that neither side waits for a single long window.
    static constexpr std::size_t kAhead = 16;

    void run();

    Reader& reader_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<model::Window> ring_;  ///< by number of the window
    std::size_t read_ = 0;
    std::size_t taken_ = 0;
    bool ended_ = false;  ///< no window comes any more
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace s80::trace
