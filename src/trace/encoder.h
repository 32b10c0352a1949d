// SPDX-License-Identifier: GPL-2.0-or-later
// Converts epochs to the columns of blocks.
#pragma once
#include <array>
#include <vector>

#include "stream/epoch.h"
#include "trace/bytes.h"
#include "trace/columns.h"

namespace s80::trace {

class Encoder {
public:
    /// `placed`: the epochs are L1-filtered.
    Encoder(unsigned processors, bool placed) : placed_(placed), lasts_(processors), counts_(processors) {}

    /// Adds an epoch to the block. Throws model::Error if the epoch does not have the form of this capture.
    void add(const model::Epoch& epoch);

    /// Number of epochs in the block.
    std::uint32_t epochs() const { return epochs_; }
    /// Size of the block's columns so far.
    std::size_t bytes() const;
    /// Ends the block and returns its contents. A block can be read without the blocks before it.
    Bytes finish();

    /// Whether epochs were added after the last mark, so that their counts are not in any block yet.
    bool pending() const { return pending_; }

private:
    Bytes& column(Column c) { return columns_[static_cast<unsigned>(c)]; }
    void check(const model::Epoch& epoch) const;
    void add_stream(const model::Stream& stream, Lasts& lasts);
    void add_lines(const model::Stream& stream, Lasts& lasts);
    void add_deltas(const model::Stream& stream);
    void collect(const model::Epoch& epoch);
    void put_counts();

    bool placed_;
    std::array<Bytes, kColumns> columns_;
    std::vector<Lasts> lasts_;  ///< by processor
    std::uint32_t epochs_ = 0;
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
    /// By processor: counts of the epochs since the last mark; these streams have no events.
    std::vector<model::Stream> counts_;
    bool pending_ = false;
};

}  // namespace s80::trace
