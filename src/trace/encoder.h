// SPDX-License-Identifier: GPL-2.0-or-later
// Windows to columns.
#pragma once
#include <array>
#include <vector>

#include "model/window.h"
#include "trace/bytes.h"
#include "trace/columns.h"
#include "trace/predictor.h"

namespace s80::trace {

class Encoder {
public:
    Encoder(unsigned processors, bool placed) : processors_(processors), placed_(placed) { clear(); }

    /// Throws Error when the window cannot be written.
    void add(const model::Window& window);

    std::uint32_t windows() const { return windows_; }
    std::size_t bytes() const;
    /// The contents of a block; the next window begins another.
    Bytes finish();

    /// Counts that wait for a window with a mark.
    bool pending() const { return pending_; }

private:
    void clear();
    Bytes& column(Column c) { return columns_[static_cast<unsigned>(c)]; }
    void add_stream(unsigned processor, const model::Stream& stream);
    void add_line(LinePredictor::Lane& lane, const model::Event& event);
    void collect(const model::Window& window);
    void put_counts();

    unsigned processors_;
    bool placed_;
    std::array<Bytes, kColumns> columns_;
    LinePredictor predictor_{0};
    std::uint32_t windows_ = 0;
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
    std::vector<model::Stream> counts_;  ///< by processor, since the last mark; without events
    bool pending_ = false;
};

}  // namespace s80::trace
