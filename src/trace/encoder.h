// SPDX-License-Identifier: GPL-2.0-or-later
// Converts epochs to columns.
#pragma once
#include <array>
#include <vector>

#include "stream/epoch.h"
#include "trace/bytes.h"
#include "trace/columns.h"

namespace s80::trace {

class Encoder {
public:
    Encoder(unsigned processors, bool placed) : placed_(placed), lasts_(processors), counts_(processors) {}

    /// Throws model::Error if the epoch does not fit this capture.
    void add(const model::Epoch& epoch);

    std::uint32_t epochs() const { return epochs_; }
    std::size_t bytes() const;
    /// The contents of a block. The next epoch begins another block, which can be read without this one.
    Bytes finish();

    /// Whether counts are pending until an epoch with a mark.
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
    std::vector<model::Stream> counts_;  ///< by processor, since the last mark; without events
    bool pending_ = false;
};

}  // namespace s80::trace
