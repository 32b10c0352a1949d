// SPDX-License-Identifier: GPL-2.0-or-later
// Columns to windows. Every value is checked before a player could stumble over it.
#pragma once
#include <array>
#include <span>

#include "model/window.h"
#include "trace/bytes.h"
#include "trace/columns.h"
#include "trace/predictor.h"

namespace s80::trace {

class Decoder {
public:
    /// `lines`: every line accessed must be below.
    Decoder(unsigned processors, bool placed, std::uint64_t lines)
        : processors_(processors), placed_(placed), lines_(lines) {}

    /// The contents of a block, which must live until its last window is taken. Throws Malformed.
    void begin(std::span<const std::uint8_t> raw);
    /// The block's next window. Throws Malformed.
    void take(model::Window& window);
    /// Throws Malformed when something is left.
    void end() const;

private:
    Cursor& column(Column c) { return columns_[static_cast<unsigned>(c)]; }
    void take_stream(unsigned processor, model::Stream& stream, std::uint32_t signals);
    void take_counts(model::Window& window);

    unsigned processors_;
    bool placed_;
    std::uint64_t lines_;
    std::array<Cursor, kColumns> columns_;
    LinePredictor predictor_{0};
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
};

}  // namespace s80::trace
