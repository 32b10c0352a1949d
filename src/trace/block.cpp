// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/block.h"

#include <zstd.h>

#include <bit>
#include <new>

namespace s80::trace {

static_assert(std::endian::native == std::endian::little, "captures are little-endian");

namespace {

/// The fastest level of zstd. Columns make a capture small already, and the thread of the timing merger does
/// the compression.
constexpr int kLevel = 1;

std::uint64_t add(std::uint64_t sum, const void* data, std::size_t n) {
    constexpr std::uint64_t kPrime = 0x100000001b3U;
    const auto* p = static_cast<const std::uint8_t*>(data);
    for (; n >= 8; n -= 8, p += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        sum = (sum ^ word) * kPrime;
    }
    for (; n != 0; --n, ++p) {
        sum = (sum ^ *p) * kPrime;
    }
    return sum;
}

}  // namespace

std::uint64_t block_sum(const BlockHeader& header, std::span<const std::uint8_t> stored) {
    constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325U;
    return add(add(kOffsetBasis, &header, offsetof(BlockHeader, sum)), stored.data(), stored.size());
}

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) {
        throw std::bad_alloc();
    }
}

Compressor::~Compressor() {
    ZSTD_freeCCtx(context_);
}

std::span<const std::uint8_t> Compressor::compress(std::span<const std::uint8_t> raw) {
    out_.resize(ZSTD_compressBound(raw.size()));
    const std::size_t n =
        ZSTD_compressCCtx(context_, out_.data(), out_.size(), raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(n) != 0) {
        throw model::Error(std::string("zstd cannot compress a block of the capture: ") +
                           ZSTD_getErrorName(n));
    }
    return {out_.data(), n};
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) {
        throw std::bad_alloc();
    }
}

Decompressor::~Decompressor() {
    ZSTD_freeDCtx(context_);
}

void Decompressor::decompress(std::span<const std::uint8_t> stored, std::span<std::uint8_t> raw) {
    const std::size_t n = ZSTD_decompressDCtx(context_, raw.data(), raw.size(), stored.data(), stored.size());
    if (ZSTD_isError(n) != 0) {
        throw Malformed(std::string("cannot be decompressed: ") + ZSTD_getErrorName(n));
    }
    if (n != raw.size()) {
        throw Malformed("holds fewer bytes than its header says");
    }
}

}  // namespace s80::trace
