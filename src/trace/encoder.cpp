// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/encoder.h"

#include <numeric>

#include "trace/block.h"

namespace s80::trace {

using model::Event;
using model::Line;
using model::Op;

void Encoder::clear() {
    for (Bytes& c : columns_) {
        c.clear();
    }
    predictor_ = LinePredictor(processors_);
    windows_ = 0;
    index_ = 0;
    instructions_ = 0;
    counts_.resize(processors_);
}

std::size_t Encoder::bytes() const {
    return std::accumulate(columns_.begin(), columns_.end(), std::size_t{0},
                           [](std::size_t n, const Bytes& c) { return n + c.size(); });
}

Bytes Encoder::finish() {
    Bytes out;
    out.reserve(bytes() + kColumns * sizeof(std::uint32_t));
    for (const Bytes& c : columns_) {
        put(out, static_cast<std::uint32_t>(c.size()));
    }
    for (const Bytes& c : columns_) {
        out.insert(out.end(), c.begin(), c.end());
    }
    clear();
    return out;
}

void Encoder::add(const model::Window& window) {
    if (window.streams.size() != processors_ || window.placed != placed_ ||
        window.instructions < instructions_ || window.index < index_) {
        throw model::Error("a window that is not of this capture was to be written to it");
    }
    Bytes& out = column(Column::windows);
    const bool marked = window.mark != model::Mark::none;
    out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(window.mark) |
                                            (window.idle_before_ns != 0 ? kHasIdle : 0U) |
                                            (window.signals != 0 ? kHasSignals : 0U)));
    put_varint(out, window.instructions - instructions_);
    put_varint(out, window.index - index_);
    instructions_ = window.instructions;
    index_ = window.index;
    if (window.idle_before_ns != 0) {
        put_varint(out, window.idle_before_ns);
    }
    if (window.signals != 0) {
        put_varint(out, window.signals);
    }
    std::uint32_t ran = 0;
    std::uint32_t runs_on = 0;
    for (unsigned p = 0; p < processors_; ++p) {
        ran |= std::uint32_t{window.streams[p].ran} << p;
        runs_on |= std::uint32_t{window.streams[p].runs_on} << p;
    }
    put(out, ran);
    put(out, runs_on);
    for (unsigned p = 0; p < processors_; ++p) {
        if (window.streams[p].ran) {
            add_stream(p, window.streams[p]);
        }
    }
    collect(window);
    if (marked) {
        for (const auto& outcomes : window.transactions) {
            for (const std::uint64_t n : outcomes) {
                put_varint(out, n);
            }
        }
        put_counts();
    }
    ++windows_;
}

void Encoder::add_stream(unsigned processor, const model::Stream& stream) {
    if (stream.tail > kLongestTail) {
        throw model::Error("a stream with an impossible tail was to be written to a capture");
    }
    put_varint(column(Column::windows), stream.size);
    put_varint(column(Column::windows), stream.tail);
    LinePredictor::Lane& lane = predictor_.lane(processor);
    for (std::size_t i = 0; i < stream.size; ++i) {
        const Event& event = stream.events[i];
        add_line(lane, event);
        if (event.delta < kLongDelta) {
            column(Column::deltas).push_back(static_cast<std::uint8_t>(event.delta));
        } else {
            column(Column::deltas).push_back(kLongDelta);
            put(column(Column::long_deltas), event.delta);
        }
        if (placed_ && event.op <= Op::walk) {
            column(Column::ways).push_back(event.way);
        }
    }
}

void Encoder::add_line(LinePredictor::Lane& lane, const Event& event) {
    const bool fetch = event.op == Op::ifetch;
    LineCode code = LineCode::guessed;
    if (event.op > Op::walk) {
        if (event.line != 0) {
            code = LineCode::far;
            put(column(Column::far), event.line);
        }
    } else {
        Line& guess = predictor_.guess(lane, fetch);
        const auto difference = static_cast<std::int32_t>(event.line - (fetch ? lane.fetch : lane.data));
        if (guess != event.line) {
            guess = event.line;
            if (difference == static_cast<std::int8_t>(difference)) {
                code = LineCode::near;
                put(column(Column::near), static_cast<std::int8_t>(difference));
            } else if (difference == static_cast<std::int16_t>(difference)) {
                code = LineCode::middle;
                put(column(Column::middle), static_cast<std::int16_t>(difference));
            } else {
                code = LineCode::far;
                put(column(Column::far), event.line);
            }
        }
        LinePredictor::seen(lane, fetch, event.line);
    }
    column(Column::steps).push_back(Step::pack(event.op, code, event.context));
}

/// Nobody looks at the counts before the next mark: until then they are added up.
void Encoder::collect(const model::Window& window) {
    for (unsigned p = 0; p < processors_; ++p) {
        const model::Stream& s = window.streams[p];
        model::Stream& sum = counts_[p];
        for (unsigned c = 0; c < model::kContexts; ++c) {
            sum.instructions[c] += s.instructions[c];
            for (unsigned k = 0; k < model::kKinds; ++k) {
                sum.accesses[c][k] += s.accesses[c][k];
            }
            for (unsigned i = 0; i < model::kInstructionClasses; ++i) {
                sum.classes[c][i] += s.classes[c][i];
            }
        }
    }
    pending_ = true;
}

void Encoder::put_counts() {
    Bytes& out = column(Column::windows);
    for (model::Stream& sum : counts_) {
        for (unsigned c = 0; c < model::kContexts; ++c) {
            put_varint(out, sum.instructions[c]);
            for (const std::uint64_t n : sum.accesses[c]) {
                put_varint(out, n);
            }
            for (const std::uint64_t n : sum.classes[c]) {
                put_varint(out, n);
            }
        }
        sum = model::Stream{};
    }
    pending_ = false;
}

}  // namespace s80::trace
