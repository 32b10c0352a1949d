// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a capture. The file has its name only when it is complete.
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
    /// Creates `path`.partial. Throws model::Error if this fails.
    Writer(const std::string& path, const Header& header);

    /// Throws model::Error if the epoch is not of the capture's form, or if the file cannot be written. The
    /// streams' counters are summed and written with the next epoch that has a mark.
    void write(const model::Epoch& epoch);

    /// Completes the file and gives it its name. The last epoch must have a mark. Throws model::Error.
    void close();

    const Totals& totals() const { return totals_; }
    /// Bytes written so far.
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
