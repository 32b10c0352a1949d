// SPDX-License-Identifier: GPL-2.0-or-later
// A capture file taken apart, so that a fuzzer can change what lies beneath compression and sums.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/block.h"

namespace s80::test {

struct CaptureBlock {
    trace::BlockHeader header;
    trace::Bytes contents;  ///< decompressed
};

struct CaptureBlocks {
    trace::Preamble preamble;
    std::vector<CaptureBlock> blocks;
};

/// Nothing when the bytes are no row of whole blocks.
std::optional<CaptureBlocks> take_apart(const std::uint8_t* data, std::size_t size);

/// Compressed, with sizes and sums that are right.
trace::Bytes put_together(const CaptureBlocks& capture);

}  // namespace s80::test
