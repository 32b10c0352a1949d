// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the log of misses (docs/reference/interfaces/miss-log.md).
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "model/attribution.h"
#include "model/machine.h"
#include "plugin/whos.h"

namespace s80::plugin {

class MissLog {
public:
    /// Throws model::Error if the file cannot be created.
    explicit MissLog(const std::string& path);
    /// Removes an incomplete file.
    ~MissLog();
    MissLog(const MissLog&) = delete;
    MissLog& operator=(const MissLog&) = delete;

    /// Throws model::Error if the file cannot be written.
    void write(const model::Miss& miss) {
        whos_ = miss.who < whos_ ? whos_ : miss.who + std::size_t{1};
        put(&miss, sizeof miss);
    }
    /// Completes the log, adds the entries of `whos` that it refers to, and gives it its name. Throws
    /// model::Error.
    void finish(const model::Machine& machine, const Whos& whos);

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    void put(const void* data, std::size_t bytes);
    [[noreturn]] void fail() const;
    std::string path_;
    std::string partial_;
    std::size_t whos_ = 0;  ///< one more than the highest number of a record
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace s80::plugin
