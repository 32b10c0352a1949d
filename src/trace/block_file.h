// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the blocks of a capture file. Checks the checksum of a block before its contents are used.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "trace/block.h"

namespace s80::trace {

class BlockFile {
public:
    /// Throws model::Error if the file cannot be read, or is not a capture of this format version.
    explicit BlockFile(const std::string& path);
    ~BlockFile();
    BlockFile(const BlockFile&) = delete;
    BlockFile& operator=(const BlockFile&) = delete;

    /// Reads the end record, which is the last block, and returns its contents of `size` bytes. Throws
    /// model::Error if there is none.
    std::span<const std::uint8_t> read_end(std::size_t size);
    /// The next read() reads the first block.
    void rewind();
    /// Reads the next block. Returns false if it is the end record. `epoch`: number of the next epoch, for
    /// messages.
    bool read(std::uint64_t epoch);

    /// The header of the block that was read last.
    const BlockHeader& header() const { return header_; }
    /// Contents of this block. Up to kPadding bytes after the contents may be read, too; they have no
    /// meaning.
    std::span<const std::uint8_t> contents() const { return contents_; }
    static constexpr std::size_t kPadding = 256;

    /// Throws model::Error with the text "the capture FILE `what` (byte OFFSET, epoch `epoch`)".
    [[noreturn]] void fail(const std::string& what, std::uint64_t epoch) const;

private:
    void read_at(std::uint64_t at, void* data, std::size_t n) const;
    void read_block(std::uint64_t at, std::uint64_t epoch);

    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
    std::uint64_t block_at_ = 0;  ///< offset in the file of the block that was read last
    std::uint64_t next_at_ = 0;
    BlockHeader header_;
    Bytes stored_;
    Bytes raw_;
    std::span<const std::uint8_t> contents_;
    Decompressor decompressor_;
};

}  // namespace s80::trace
