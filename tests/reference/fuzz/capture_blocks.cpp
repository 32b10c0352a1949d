// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz/capture_blocks.h"

#include <cstring>

namespace s80::test {

namespace {

constexpr std::size_t kLargest = 1 << 16;  ///< contents of a block, in a fuzzer

bool compressed(const trace::BlockHeader& header) {
    return header.type != trace::BlockType::end;
}

}  // namespace

std::optional<CaptureBlocks> take_apart(const std::uint8_t* data, std::size_t size) {
    CaptureBlocks capture;
    if (size < sizeof capture.preamble) {
        return std::nullopt;
    }
    std::memcpy(&capture.preamble, data, sizeof capture.preamble);
    trace::Decompressor decompressor;
    for (std::size_t at = sizeof capture.preamble; at != size;) {
        CaptureBlock block;
        if (size - at < sizeof block.header) {
            return std::nullopt;
        }
        std::memcpy(&block.header, data + at, sizeof block.header);
        at += sizeof block.header;
        if (block.header.stored > size - at || block.header.raw > kLargest) {
            return std::nullopt;
        }
        const std::span stored(data + at, block.header.stored);
        at += block.header.stored;
        if (compressed(block.header)) {
            block.contents.resize(block.header.raw);
            try {
                decompressor.decompress(stored, block.contents);
            } catch (const model::Error&) {
                return std::nullopt;
            }
        } else {
            block.contents.assign(stored.begin(), stored.end());
        }
        capture.blocks.push_back(std::move(block));
    }
    return capture;
}

trace::Bytes put_together(const CaptureBlocks& capture) {
    trace::Bytes file;
    trace::put(file, capture.preamble);
    trace::Compressor compressor;
    for (const CaptureBlock& block : capture.blocks) {
        const std::span<const std::uint8_t> stored =
            compressed(block.header) ? compressor.compress(block.contents) : std::span(block.contents);
        trace::BlockHeader header = block.header;
        header.raw = static_cast<std::uint32_t>(block.contents.size());
        header.stored = static_cast<std::uint32_t>(stored.size());
        header.sum = trace::block_sum(header, stored);
        trace::put(file, header);
        file.insert(file.end(), stored.begin(), stored.end());
    }
    return file;
}

}  // namespace s80::test
