// SPDX-License-Identifier: GPL-2.0-or-later
// A capture file is a signature and a sequence of blocks. A block has a header of 32 bytes with a checksum
// over the whole block, and contents that are compressed with zstd.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "trace/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace s80::trace {

inline constexpr std::array<std::uint8_t, 8> kSignature{'S', '8', '0', 'C', 'A', 'P', 0x1a, '\n'};
inline constexpr std::uint32_t kVersion = 4;
/// The begin of the file.
struct Preamble {
    std::array<std::uint8_t, 8> signature{};
    std::uint32_t version = 0;
    std::uint32_t reserved = 0;
};
static_assert(sizeof(Preamble) == 16);
/// The size limit of a block, for writing and reading.
inline constexpr std::uint32_t kLargestBlock = 1U << 28;

enum class BlockType : std::uint32_t {
    header = 0x44414548,  ///< "HEAD"
    state = 0x54415453,   ///< "STAT"
    epochs = 0x444e4957,  ///< "WIND"
    end = 0x20444e45,     ///< "END "
};

/// The header in its file layout.
struct BlockHeader {
    BlockType type{};
    std::uint32_t epochs = 0;       ///< epochs in this block
    std::uint64_t first_epoch = 0;  ///< number of the first epoch, from 0
    std::uint32_t raw = 0;          ///< bytes before compression
    std::uint32_t stored = 0;       ///< bytes in the file
    std::uint64_t sum = 0;          ///< of the fields above and the stored bytes
};
static_assert(sizeof(BlockHeader) == 32);

/// 64-bit FNV-1a in steps of eight bytes, over the header without its checksum and the stored bytes.
std::uint64_t block_sum(const BlockHeader& header, std::span<const std::uint8_t> stored);

class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    /// Valid until the next call.
    std::span<const std::uint8_t> compress(std::span<const std::uint8_t> raw);

private:
    ZSTD_CCtx_s* context_;
    Bytes out_;
};

class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;
    /// Fills `raw`, which has the right size. Throws Malformed.
    void decompress(std::span<const std::uint8_t> stored, std::span<std::uint8_t> raw);

private:
    ZSTD_DCtx_s* context_;
};

}  // namespace s80::trace
