// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/encoder.h"

#include <algorithm>
#include <numeric>

#include "base/core_set.h"

namespace s80::trace {

using model::Event;
using model::Op;

namespace {

/// Appends `n` bytes, and returns the address of the first.
std::uint8_t* extend(Bytes& column, std::size_t n) {
    const std::size_t at = column.size();
    column.resize(at + n);
    return column.data() + at;
}

}  // namespace

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
    for (Bytes& c : columns_) {
        out.insert(out.end(), c.begin(), c.end());
        c.clear();
    }
    std::fill(lasts_.begin(), lasts_.end(), Lasts{});
    epochs_ = 0;
    index_ = 0;
    instructions_ = 0;
    return out;
}

void Encoder::check(const model::Epoch& epoch) const {
    if (epoch.streams.size() != lasts_.size() || epoch.placed != placed_ ||
        epoch.instructions < instructions_ || epoch.index < index_ ||
        std::any_of(epoch.streams.begin(), epoch.streams.end(),
                    [](const model::Stream& s) { return s.tail > kLongestTail; })) {
        throw model::Error("internal error: an epoch of another form was written to the capture");
    }
}

void Encoder::add(const model::Epoch& epoch) {
    check(epoch);
    Bytes& out = column(Column::epochs);
    out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(epoch.mark) |
                                            (epoch.idle_before_ns != 0 ? kHasIdle : 0U) |
                                            (epoch.signals != 0 ? kHasSignals : 0U)));
    put_varint(out, epoch.instructions - instructions_);
    put_varint(out, epoch.index - index_);
    instructions_ = epoch.instructions;
    index_ = epoch.index;
    if (epoch.idle_before_ns != 0) {
        put_varint(out, epoch.idle_before_ns);
    }
    if (epoch.signals != 0) {
        put_varint(out, epoch.signals);
    }
    model::CoreSet ran;
    model::CoreSet runs_on;
    for (unsigned p = 0; p < epoch.streams.size(); ++p) {
        if (epoch.streams[p].ran) {
            ran.add(p);
        }
        if (epoch.streams[p].runs_on) {
            runs_on.add(p);
        }
    }
    for (const model::CoreSet& set : {ran, runs_on}) {
        for (unsigned i = 0; i < model::CoreSet::words_for(static_cast<unsigned>(lasts_.size())); ++i) {
            put(out, set.word(i));
        }
    }
    for (std::size_t p = 0; p < epoch.streams.size(); ++p) {
        if (epoch.streams[p].ran) {
            add_stream(epoch.streams[p], lasts_[p]);
        }
    }
    collect(epoch);
    if (epoch.mark != model::Mark::none) {
        for (const auto& outcomes : epoch.transactions) {
            for (const std::uint64_t n : outcomes) {
                put_varint(out, n);
            }
        }
        for (const auto& counts : {epoch.slices.slices, epoch.slices.instructions}) {
            for (const std::uint64_t n : counts) {
                put_varint(out, n);
            }
        }
        put_counts();
    }
    ++epochs_;
}

void Encoder::add_stream(const model::Stream& stream, Lasts& lasts) {
    put_varint(column(Column::epochs), stream.size);
    put_varint(column(Column::epochs), stream.tail);
    add_lines(stream, lasts);
    add_deltas(stream);
    if (placed_) {
        std::uint8_t* ways = extend(column(Column::ways), stream.size);
        for (std::size_t i = 0; i < stream.size; ++i) {
            ways[i] = static_cast<std::uint8_t>(stream.events[i].l1_way());
        }
    }
}

void Encoder::add_lines(const model::Stream& stream, Lasts& lasts) {
    constexpr std::size_t kWidest = 4;
    std::uint8_t* steps = extend(column(Column::steps), stream.size);
    std::uint8_t* code = extend(column(Column::code), stream.size * kWidest);
    std::uint8_t* data = extend(column(Column::data), stream.size * kWidest);
    Bytes& edges = column(Column::edges);
    const unsigned edge_bits = model::file_core_bits(lasts_.size());
    for (std::size_t i = 0; i < stream.size; ++i) {
        const Event& event = stream.events[i];
        const bool fetch = event.op == Op::ifetch;
        const bool edge = event.op == Op::after;
        model::Line& last = fetch ? lasts.code : edge ? lasts.edge : lasts.data;
        const std::uint32_t line = edge ? event.edge().word(edge_bits) : event.line;
        const LineDifference difference(last, line);
        const std::uint32_t folded = difference.folded();
        const std::uint8_t bytes = LineDifference::kBytes[difference.width()];
        if (edge) [[unlikely]] {
            std::memcpy(extend(edges, bytes), &folded, bytes);
        } else {
            std::uint8_t*& out = fetch ? code : data;
            std::memcpy(out, &folded, sizeof folded);
            out += bytes;
        }
        last = line;
        const bool fresh = event.context.value != lasts.context;
        if (fresh) {
            lasts.context = event.context.value;
            column(Column::contexts).push_back(lasts.context);
        }
        steps[i] = Step::pack(event.op, difference.width(), fresh, event.awaited != 0).byte;
    }
    column(Column::code).resize(static_cast<std::size_t>(code - column(Column::code).data()));
    column(Column::data).resize(static_cast<std::size_t>(data - column(Column::data).data()));
}

void Encoder::add_deltas(const model::Stream& stream) {
    std::uint8_t* deltas = extend(column(Column::deltas), stream.size);
    for (std::size_t i = 0; i < stream.size; ++i) {
        const std::uint16_t delta = stream.events[i].delta;
        if (delta < kLongDelta) {
            deltas[i] = static_cast<std::uint8_t>(delta);
        } else {
            deltas[i] = kLongDelta;
            put(column(Column::long_deltas), delta);
        }
    }
}

/// Adds up the counts of epochs up to the next mark. A reader needs counts only at marks.
void Encoder::collect(const model::Epoch& epoch) {
    if (!epoch.counted) {
        return;
    }
    for (std::size_t p = 0; p < epoch.streams.size(); ++p) {
        counts_[p].add_counts(epoch.streams[p]);
    }
    pending_ = true;
}

void Encoder::put_counts() {
    Bytes& out = column(Column::epochs);
    for (model::Stream& sum : counts_) {
        put(out, sum.used);
        sum.each_used([&](model::Context context) {
            const unsigned c = context.value;
            put_varint(out, sum.instructions[c]);
            for (const std::uint64_t n : sum.accesses[c]) {
                put_varint(out, n);
            }
            for (const std::uint64_t n : sum.classes[c]) {
                put_varint(out, n);
            }
        });
        sum.clear_counts();
    }
    pending_ = false;
}

}  // namespace s80::trace
