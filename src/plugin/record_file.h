// SPDX-License-Identifier: GPL-2.0-or-later
// A file of records: 8 bytes that name the format, the records, a JSON text that explains them, and the
// length of the text in 8 bytes.
#pragma once
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "model/machine.h"

namespace s80::plugin {

class RecordFile {
public:
    /// `magic`: 8 bytes. `what`: names the file in messages. Throws model::Error if the file cannot be
    /// created.
    RecordFile(const std::string& path, const char* magic, std::string what);
    /// Removes an incomplete file.
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    /// Throws model::Error if the file cannot be written.
    void put(const void* data, std::size_t bytes) {
        if (std::fwrite(data, 1, bytes, file_.get()) != bytes) {
            fail();
        }
    }
    /// Completes the file and gives it its name. Throws model::Error.
    void finish(const std::string& json);

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    [[noreturn]] void fail() const;
    std::string path_;
    std::string partial_;
    std::string what_;
    std::unique_ptr<std::FILE, Close> file_;
};

/// The keys `line_bytes`, `cores` and `labels` of the JSON text about requests, without braces.
std::string request_labels(const model::Machine& machine);

}  // namespace s80::plugin
