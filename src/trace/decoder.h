// SPDX-License-Identifier: GPL-2.0-or-later
// Columns to windows. Every value is checked before a player could stumble over it.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "model/window.h"
#include "trace/bytes.h"
#include "trace/columns.h"

namespace s80::trace {

class Decoder {
public:
    /// `lines`: every line accessed must be below.
    Decoder(unsigned processors, bool placed, std::uint64_t lines)
        : placed_(placed), lines_(lines), lasts_(processors) {}

    /// Whether the columns of lines have ended is not asked at every event: that many bytes behind the
    /// contents of a block may be read.
    static constexpr std::size_t kPadding = 256;

    /// The contents of a block, which must live until its last window is taken. Throws Malformed.
    void begin(std::span<const std::uint8_t> contents);
    /// The block's next window. Throws Malformed.
    void take(model::Window& window);
    /// Throws Malformed when something is left.
    void end() const;

private:
    Cursor& column(Column c) { return columns_[static_cast<unsigned>(c)]; }
    void take_stream(model::Stream& stream, Lasts& lasts, std::uint32_t signals);
    std::uint16_t take_context();
    void take_counts(model::Window& window);

    bool placed_;
    std::uint64_t lines_;
    std::array<Cursor, kColumns> columns_;
    std::vector<Lasts> lasts_;  ///< by processor
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
};

}  // namespace s80::trace
