// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/decoder.h"

#include <algorithm>

namespace s80::trace {

using model::Event;
using model::Line;
using model::Op;

void Decoder::begin(std::span<const std::uint8_t> raw) {
    Cursor all(raw);
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
    predictor_ = LinePredictor(processors_);
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
    window.streams.resize(processors_);
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
    if (((ran | runs_on) >> (processors_ - 1)) > 1) {
        throw Malformed("names a processor that the machine lacks");
    }
    if (signals > column(Column::steps).left()) {
        throw Malformed("has more interrupts than events");
    }
    window.signals = static_cast<std::uint32_t>(signals);
    for (unsigned p = 0; p < processors_; ++p) {
        model::Stream& stream = window.streams[p];
        stream.size = 0;
        stream.tail = 0;
        stream.ran = (ran >> p & 1) != 0;
        stream.runs_on = (runs_on >> p & 1) != 0;
        if (stream.ran) {
            take_stream(p, stream, window.signals);
        }
    }
    take_counts(window);
}

void Decoder::take_stream(unsigned processor, model::Stream& stream, std::uint32_t signals) {
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
    LinePredictor::Lane lane = predictor_.lane(processor);
    for (std::size_t i = 0; i < size; ++i) {
        const Step step{steps[i]};
        Event& event = stream.events[i];
        if (step.op() > static_cast<unsigned>(Op::wait) || step.context() >= model::kContexts) {
            throw Malformed("has an event of an unknown kind");
        }
        event.op = static_cast<Op>(step.op());
        event.context.value = step.context();
        event.way = 0;
        event.delta = deltas[i];
        if (deltas[i] == kLongDelta) {
            event.delta = column(Column::long_deltas).take<std::uint16_t>();
        }
        if (event.op > Op::walk) {
            event.line = step.code() == LineCode::far ? column(Column::far).take<std::uint32_t>() : 0;
            if (event.op != Op::pass && event.line >= signals) {
                throw Malformed("names an interrupt that the window lacks");
            }
            continue;
        }
        const bool fetch = event.op == Op::ifetch;
        Line& guess = predictor_.guess(lane, fetch);
        const Line last = fetch ? lane.fetch : lane.data;
        switch (step.code()) {
            case LineCode::guessed: break;
            case LineCode::near:
                guess = last + static_cast<Line>(column(Column::near).take<std::int8_t>());
                break;
            case LineCode::middle:
                guess = last + static_cast<Line>(column(Column::middle).take<std::int16_t>());
                break;
            case LineCode::far: guess = column(Column::far).take<std::uint32_t>(); break;
        }
        event.line = guess;
        if (event.line >= lines_) {
            throw Malformed("names a line outside of the guest's memory");
        }
        LinePredictor::seen(lane, fetch, event.line);
        if (placed_) {
            event.way = column(Column::ways).take<std::uint8_t>() & 15;
        }
    }
    predictor_.lane(processor) = lane;
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
