// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a capture. Rejects a truncated or corrupt file with the position of the error. Whatever a file
// contains, an epoch that is returned can be played safely on a machine with the capture's processors and
// memory.
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
    /// Opens a capture, and checks its header and end record. Throws model::Error that names the file and the
    /// position.
    explicit Reader(const std::string& path);

    const Header& header() const { return header_; }
    const Totals& totals() const { return totals_; }
    /// Number of epochs that next() has returned.
    std::uint64_t taken() const { return taken_; }

    /// Reads the next epoch into the storage of the last one. Returns false after the last epoch. Throws
    /// model::Error that names the file, the offset of the block, and the epoch.
    bool next(model::Epoch& epoch);

private:
    void read_end();
    void read_header();
    bool next_block();
    /// Calls `fn`, which processes the contents of a block; adds the position to an error.
    template <class Fn>
    void parse(Fn&& fn);

    BlockFile file_;
    Header header_;
    Totals totals_;
    std::optional<Decoder> decoder_;
    std::uint32_t left_ = 0;  ///< epochs of the present block that are not read yet
    std::uint64_t taken_ = 0;
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace s80::trace
