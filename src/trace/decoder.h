// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the columns of a block to epochs. Checks every value, because the timing merger does not.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "stream/epoch.h"
#include "trace/bytes.h"
#include "trace/columns.h"

namespace s80::trace {

class Decoder {
public:
    /// `placed`: the epochs are L1-filtered. `lines`: size of guest-physical memory; all accessed lines must
    /// be below.
    Decoder(unsigned processors, bool placed, std::uint64_t lines)
        : placed_(placed), lines_(lines), lasts_(processors) {}

    /// The decoder checks for the end of the columns of lines only once in several events. It may therefore
    /// read this number of bytes after the contents of a block.
    static constexpr std::size_t kPadding = 256;

    /// Begins a block. `contents` must stay valid until the block's last epoch has been taken. Throws
    /// Malformed.
    void begin(std::span<const std::uint8_t> contents);
    /// Takes the next epoch of the block. Throws Malformed.
    void take(model::Epoch& epoch);
    /// Call it after the block's last epoch. Throws Malformed if the columns have further data.
    void end() const;

private:
    Cursor& column(Column c) { return columns_[static_cast<unsigned>(c)]; }
    model::CoreSet take_set(Cursor& in) const;
    void widen_edges(model::Stream& stream) const;
    std::uint64_t take_size(model::Stream& stream);
    void take_stream(model::Stream& stream, Lasts& lasts, std::uint32_t signals);
    void take_ways(model::Stream& stream);
    std::uint16_t take_context();
    void take_counts(model::Epoch& epoch);

    bool placed_;
    std::uint64_t lines_;
    std::array<Cursor, kColumns> columns_;
    std::vector<Lasts> lasts_;  ///< by processor
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
};

}  // namespace s80::trace
