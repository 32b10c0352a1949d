// SPDX-License-Identifier: GPL-2.0-or-later
// Converts columns to epochs. Every value is checked, so that the timing merger can rely on it.
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
    /// `lines`: all accessed lines must be below.
    Decoder(unsigned processors, bool placed, std::uint64_t lines)
        : placed_(placed), lines_(lines), lasts_(processors) {}

    /// The decoder does not check for the end of the line columns at every event. This many bytes after the
    /// contents of a block may be read.
    static constexpr std::size_t kPadding = 256;

    /// The contents of a block, which must live until its last epoch is taken. Throws Malformed.
    void begin(std::span<const std::uint8_t> contents);
    /// The block's next epoch. Throws Malformed.
    void take(model::Epoch& epoch);
    /// Throws Malformed if data remain.
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
