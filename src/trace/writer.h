// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a capture. The file gets its name when it is complete.
#pragma once
#include <cstdint>
#include <string>

#include "base/partial_file.h"
#include "stream/epoch.h"
#include "trace/block.h"
#include "trace/capture.h"
#include "trace/encoder.h"

namespace s80::trace {

class Writer {
public:
    /// Creates the file as `path`.partial. Throws model::Error if this fails.
    Writer(const std::string& path, const Header& header);

    /// Adds an epoch. The counters of its streams are summed up and written with the next epoch that has a
    /// mark. Throws model::Error if the epoch does not have the form of the capture, or if the file cannot be
    /// written.
    void write(const model::Epoch& epoch);

    /// Completes the file, which gets its name. The last epoch must have had a mark. Throws model::Error.
    void close();

    const Totals& totals() const { return totals_; }
    /// Number of bytes written so far.
    std::uint64_t bytes() const { return bytes_; }

private:
    void flush();
    void put_block(BlockType type, std::uint32_t epochs, std::uint64_t first,
                   std::span<const std::uint8_t> raw);
    void put_raw(const void* data, std::size_t n);
    [[noreturn]] void fail() const;

    model::PartialFile file_;
    Compressor compressor_;
    Encoder encoder_;
    Totals totals_;
    std::uint64_t bytes_ = 0;
};

}  // namespace s80::trace
