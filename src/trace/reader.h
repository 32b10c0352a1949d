// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture. A truncated or corrupt file is refused with the place; whatever the file holds, the
// windows that come out of it are safe to play on a machine with its processors and memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "model/window.h"
#include "trace/block.h"
#include "trace/block_file.h"
#include "trace/capture.h"
#include "trace/decoder.h"

namespace s80::trace {

class Reader {
public:
    /// Opens a whole capture: header and end record are checked at once. Throws model::Error naming file and
    /// place.
    explicit Reader(const std::string& path);

    const Header& header() const { return header_; }
    const Totals& totals() const { return totals_; }
    /// Windows taken so far.
    std::uint64_t taken() const { return taken_; }

    /// The next window, into the storage of the one before; false behind the last. Throws model::Error naming
    /// the file, the byte at which the block begins, and the window.
    bool next(model::Window& window);

private:
    void read_end();
    void read_header();
    bool next_block();
    /// Does something with a block's contents; what is malformed is told with the place.
    template <class Fn>
    void parse(Fn&& fn);

    BlockFile file_;
    Header header_;
    Totals totals_;
    std::optional<Decoder> decoder_;
    std::uint32_t left_ = 0;  ///< windows of the present block
    std::uint64_t taken_ = 0;
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace s80::trace
