// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks of a capture file. The file is a signature and a sequence of blocks. A block has a header of 32
// bytes, with a checksum of the whole block, and contents compressed with zstd.
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
/// The first bytes of a capture file.
struct Preamble {
    std::array<std::uint8_t, 8> signature{};
    std::uint32_t version = 0;
    std::uint32_t reserved = 0;
};
static_assert(sizeof(Preamble) == 16);
/// Largest size of a block's contents in bytes. Protects a reader from the sizes in a corrupt file.
inline constexpr std::uint32_t kLargestBlock = 1U << 28;

/// What a block contains. The values are four ASCII letters in the file.
enum class BlockType : std::uint32_t {
    header = 0x44414548,  ///< "HEAD"
    state = 0x54415453,   ///< "STAT"
    epochs = 0x444e4957,  ///< "WIND"
    end = 0x20444e45,     ///< "END "
};

/// The header of a block, as in the file.
struct BlockHeader {
    BlockType type{};
    std::uint32_t epochs = 0;       ///< number of epochs in this block
    std::uint64_t first_epoch = 0;  ///< number of the first epoch, from 0
    std::uint32_t raw = 0;          ///< bytes of the contents before compression
    std::uint32_t stored = 0;       ///< bytes of the contents in the file
    std::uint64_t sum = 0;          ///< block_sum() of the fields above and the contents in the file
};
static_assert(sizeof(BlockHeader) == 32);

/// The checksum of a block: 64-bit FNV-1a with steps of eight bytes. Includes the header without its field
/// `sum`, and the contents in the file (`stored`).
std::uint64_t block_sum(const BlockHeader& header, std::span<const std::uint8_t> stored);

class Compressor {
public:
    Compressor();
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    /// Returns the compressed bytes, which are valid until the next call.
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
    /// Decompresses into `raw`, which has the size that the contents must have. Throws Malformed.
    void decompress(std::span<const std::uint8_t> stored, std::span<std::uint8_t> raw);

private:
    ZSTD_DCtx_s* context_;
};

}  // namespace s80::trace
