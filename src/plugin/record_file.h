// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file of binary records: 8 bytes that name the format, the records, a JSON text that explains the
// records, and the length of this text in 8 bytes.
#pragma once
#include <cstddef>
#include <string>

#include "base/partial_file.h"
#include "machine/machine.h"

namespace s80::plugin {

class RecordFile {
public:
    /// `magic`: the 8 bytes at the beginning. `what`: name of the file's contents in messages. Throws
    /// model::Error if the file cannot be created.
    RecordFile(const std::string& path, const char* magic, std::string what);

    /// Appends bytes. Throws model::Error if the file cannot be written.
    void put(const void* data, std::size_t bytes) {
        if (!file_.write(data, bytes)) {
            fail();
        }
    }
    /// Adds the JSON text and completes the file, which gets its final name. Throws model::Error.
    void finish(const std::string& json);

private:
    [[noreturn]] void fail() const;
    model::PartialFile file_;
    std::string what_;
};

/// The keys `line_bytes`, `cores` and `labels` of the JSON text in files of misses, without braces around
/// them.
std::string request_labels(const model::Machine& machine);

}  // namespace s80::plugin
