// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the blocks of a file. Each block is checked against its checksum before its contents are used.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "trace/block.h"

namespace s80::trace {

class BlockFile {
public:
    /// Throws model::Error if the file cannot be read or is not a capture of this version.
    explicit BlockFile(const std::string& path);
    ~BlockFile();
    BlockFile(const BlockFile&) = delete;
    BlockFile& operator=(const BlockFile&) = delete;

    /// Reads the end record, whose contents have this size. Throws model::Error if there is none.
    std::span<const std::uint8_t> read_end(std::size_t size);
    /// Returns to the first block.
    void rewind();
    /// Reads the next block; false for the end record. `epoch`: number of the epoch, for messages.
    bool read(std::uint64_t epoch);

    /// The header of the block that was read last.
    const BlockHeader& header() const { return header_; }
    /// kPadding more bytes may be read.
    std::span<const std::uint8_t> contents() const { return contents_; }
    static constexpr std::size_t kPadding = 256;

    /// Throws model::Error: "the capture FILE WHAT (byte ..., epoch ...)".
    [[noreturn]] void fail(const std::string& what, std::uint64_t epoch) const;

private:
    void read_at(std::uint64_t at, void* data, std::size_t n) const;
    void read_block(std::uint64_t at, std::uint64_t epoch);

    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
    std::uint64_t block_at_ = 0;  ///< offset of the block that was read last
    std::uint64_t next_at_ = 0;
    BlockHeader header_;
    Bytes stored_;
    Bytes raw_;
    std::span<const std::uint8_t> contents_;
    Decompressor decompressor_;
};

}  // namespace s80::trace
