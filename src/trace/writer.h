// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a capture. The file has its name only when it is whole.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "model/window.h"
#include "trace/block.h"
#include "trace/capture.h"
#include "trace/encoder.h"

namespace s80::trace {

class Writer {
public:
    /// Begins `path`.partial; throws model::Error when that cannot be.
    Writer(const std::string& path, const Header& header);
    /// Removes what is not whole.
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Throws model::Error when the window is not of the capture's form, or the file cannot grow. The
    /// counters of the streams are added up and written with the next window that has a mark.
    void write(const model::Window& window);

    /// Ends the file and gives it its name. The last window must have had a mark. Throws model::Error.
    void close();

    const Totals& totals() const { return totals_; }
    /// Bytes on the disk so far.
    std::uint64_t bytes() const { return bytes_; }

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    void flush();
    void put_block(BlockType type, std::uint32_t windows, std::uint64_t first,
                   std::span<const std::uint8_t> raw);
    void put_raw(const void* data, std::size_t n);
    [[noreturn]] void fail() const;

    std::string path_;
    std::string partial_;
    std::unique_ptr<std::FILE, Close> file_;
    Compressor compressor_;
    Encoder encoder_;
    Totals totals_;
    std::uint64_t bytes_ = 0;
};

}  // namespace s80::trace
