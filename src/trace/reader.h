// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture. A truncated or corrupt file is rejected with the position of the error. All epochs that
// it returns are safe to play on a machine with the capture's processors and memory, whatever the file
// contains.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "stream/epoch.h"
#include "trace/block.h"
#include "trace/block_file.h"
#include "trace/capture.h"
#include "trace/decoder.h"

namespace s80::trace {

class Reader {
public:
    /// Opens a complete capture and checks header and end record. Throws model::Error that names file and
    /// position.
    explicit Reader(const std::string& path);

    const Header& header() const { return header_; }
    const Totals& totals() const { return totals_; }
    /// The number of epochs taken so far.
    std::uint64_t taken() const { return taken_; }

    /// The next epoch, in the storage of the one before; false after the last. Throws model::Error that names
    /// the file, the byte offset of the block, and the epoch.
    bool next(model::Epoch& epoch);

private:
    void read_end();
    void read_header();
    bool next_block();
    /// Processes a block's contents; adds the position to errors.
    template <class Fn>
    void parse(Fn&& fn);

    BlockFile file_;
    Header header_;
    Totals totals_;
    std::optional<Decoder> decoder_;
    std::uint32_t left_ = 0;  ///< epochs left in the present block
    std::uint64_t taken_ = 0;
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace s80::trace
