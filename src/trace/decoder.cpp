// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/decoder.h"

#include <algorithm>

namespace s80::trace {

using model::Event;
using model::Op;

void Decoder::begin(std::span<const std::uint8_t> contents) {
    Cursor all(contents);
    std::array<std::uint32_t, kColumns> sizes{};
    for (std::uint32_t& size : sizes) {
        size = all.take<std::uint32_t>();
    }
    for (unsigned c = 0; c < kColumns; ++c) {
        columns_[c] = Cursor({all.take_bytes(sizes[c]), sizes[c]});
    }
    if (all.left() != 0) {
        throw Malformed("has bytes behind its columns");
    }
    std::fill(lasts_.begin(), lasts_.end(), Lasts{});
    index_ = 0;
    instructions_ = 0;
}

void Decoder::end() const {
    if (std::any_of(columns_.begin(), columns_.end(), [](const Cursor& c) { return c.left() != 0; })) {
        throw Malformed("has values that belong to no window");
    }
}

void Decoder::take(model::Window& window) {
    Cursor& in = column(Column::windows);
    const auto flags = in.take<std::uint8_t>();
    if ((flags & kMarkMask) > static_cast<unsigned>(model::Mark::exit) || flags >= kHasSignals * 2) {
        throw Malformed("has an unknown mark");
    }
    window.streams.resize(lasts_.size());
    window.placed = placed_;
    window.mark = static_cast<model::Mark>(flags & kMarkMask);
    instructions_ += in.take_varint();
    index_ += in.take_varint();
    window.instructions = instructions_;
    window.index = index_;
    window.idle_before_ns = (flags & kHasIdle) != 0 ? in.take_varint() : 0;
    const std::uint64_t signals = (flags & kHasSignals) != 0 ? in.take_varint() : 0;
    const auto ran = in.take<std::uint32_t>();
    const auto runs_on = in.take<std::uint32_t>();
    if (((ran | runs_on) >> (lasts_.size() - 1)) > 1) {
        throw Malformed("names a processor that the machine lacks");
    }
    if (signals > column(Column::steps).left()) {
        throw Malformed("has more interrupts than events");
    }
    window.signals = static_cast<std::uint32_t>(signals);
    for (std::size_t p = 0; p < lasts_.size(); ++p) {
        model::Stream& stream = window.streams[p];
        stream.size = 0;
        stream.tail = 0;
        stream.ran = (ran >> p & 1) != 0;
        stream.runs_on = (runs_on >> p & 1) != 0;
        if (stream.ran) {
            take_stream(stream, lasts_[p], window.signals);
        }
    }
    take_counts(window);
}

void Decoder::take_stream(model::Stream& stream, Lasts& lasts, std::uint32_t signals) {
    const std::uint64_t size = column(Column::windows).take_varint();
    stream.tail = column(Column::windows).take_varint();
    if (stream.tail > kLongestTail) {
        throw Malformed("has a stream with an impossible tail");
    }
    if (size > column(Column::steps).left()) {
        throw Malformed("has fewer events than a stream says");
    }
    if (stream.events.size() < size) {
        stream.events.resize(size);
    }
    stream.size = size;
    const std::uint8_t* const steps = column(Column::steps).take_bytes(size);
    const std::uint8_t* const deltas = column(Column::deltas).take_bytes(size);
    const std::uint8_t* const ways = placed_ ? column(Column::ways).take_bytes(size) : nullptr;
    Cursor& code = column(Column::code);
    Cursor& data = column(Column::data);
    std::array<const std::uint8_t*, 2> at{data.at(), code.at()};
    const std::array<const std::uint8_t*, 2> end{data.end(), code.end()};
    std::array<model::Line, 2> last{lasts.data, lasts.code};
    // What an event's line must be below, by op; the last op does not exist.
    const std::array<std::uint64_t, 8> limit{lines_,  lines_,  lines_, lines_, std::uint64_t{1} << 32,
                                             signals, signals, 0};
    unsigned bad = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Step step{steps[i]};
        const unsigned fetch = step.op() == static_cast<unsigned>(Op::ifetch) ? 1 : 0;
        if (at[fetch] > end[fetch]) [[unlikely]] {
            throw Malformed("has fewer lines than events");
        }
        std::uint32_t folded = 0;
        std::memcpy(&folded, at[fetch], sizeof folded);
        at[fetch] += LineDifference::kBytes[step.width()];
        last[fetch] = LineDifference::apply(last[fetch], folded & LineDifference::kMask[step.width()]);
        std::uint16_t delta = deltas[i];
        if (delta == kLongDelta) [[unlikely]] {
            delta = column(Column::long_deltas).take<std::uint16_t>();
        }
        Event event{last[fetch], delta, static_cast<Op>(step.op()), 0, {}};
        event.context.value = step.context();
        if (placed_) {
            event.way = ways[i] & 15;
        }
        stream.events[i] = event;
        bad |= (event.line >= limit[step.op()] ? 1U : 0U) | (step.context() >= model::kContexts ? 1U : 0U);
    }
    if (bad != 0) {
        throw Malformed(
            "has an event of an unknown kind, or one that names a line outside of the guest's memory or "
            "an interrupt that the window lacks");
    }
    if (at[0] > end[0] || at[1] > end[1]) {
        throw Malformed("has fewer lines than events");
    }
    data.take_bytes(static_cast<std::size_t>(at[0] - data.at()));
    code.take_bytes(static_cast<std::size_t>(at[1] - code.at()));
    lasts = {last[1], last[0]};
}

void Decoder::take_counts(model::Window& window) {
    const bool marked = window.mark != model::Mark::none;
    if (!marked && !window.counted) {
        return;
    }
    window.counted = marked;
    Cursor& in = column(Column::windows);
    if (marked) {
        for (auto& outcomes : window.transactions) {
            for (std::uint64_t& n : outcomes) {
                n = in.take_varint();
            }
        }
    } else {
        window.transactions = {};
    }
    for (model::Stream& stream : window.streams) {
        for (unsigned c = 0; c < model::kContexts; ++c) {
            stream.instructions[c] = marked ? in.take_varint() : 0;
            for (std::uint64_t& n : stream.accesses[c]) {
                n = marked ? in.take_varint() : 0;
            }
            for (std::uint64_t& n : stream.classes[c]) {
                n = marked ? in.take_varint() : 0;
            }
        }
    }
}

}  // namespace s80::trace
