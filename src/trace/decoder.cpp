// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/decoder.h"

#include <algorithm>
#include <cstddef>

#include "base/core_set.h"

namespace s80::trace {

using model::Event;
using model::Op;

namespace {

/// Number of events after which the ends of the columns of lines are checked.
constexpr std::size_t kChunk = 64;
static_assert(kChunk * sizeof(std::uint32_t) <= Decoder::kPadding);

/// What a byte of the column `steps` means, computed for all 256 values.
struct StepInfo {
    std::uint32_t mask;   ///< bits of the line's difference that are stored
    std::uint16_t event;  ///< op, as in the last two bytes of an Event; way and context are added
    std::uint8_t bytes;   ///< size of the line's difference in the file
    std::uint8_t column;  ///< column of the line: 0 `data`, 1 `code`, 2 `edges`
    bool access;
    bool new_context;
    bool awaited;
};

constexpr std::array<StepInfo, 256> kSteps = [] {
    std::array<StepInfo, 256> all{};
    for (unsigned i = 0; i < all.size(); ++i) {
        const Step step{static_cast<std::uint8_t>(i)};
        all[i] = {LineDifference::kMask[step.width()],
                  static_cast<std::uint16_t>(step.op()),
                  LineDifference::kBytes[step.width()],
                  static_cast<std::uint8_t>(step.op() == static_cast<unsigned>(Op::ifetch)  ? 1
                                            : step.op() == static_cast<unsigned>(Op::after) ? 2
                                                                                            : 0),
                  step.op() <= static_cast<unsigned>(Op::walk),
                  step.new_context(),
                  step.awaited()};
    }
    return all;
}();

// take_stream() composes the 8 bytes of an Event in a register, and needs this layout of Event.
static_assert(offsetof(Event, line) == 0 && offsetof(Event, context) == 7);
constexpr unsigned kAwaitedBit = 47;

/// Checks an event that is not an access. `byte`: of the column `steps`. `line`: its line or word. Throws
/// Malformed.
void check_other(std::uint8_t byte, model::Line line, std::uint32_t signals, std::size_t processors) {
    const Step step{byte};
    const auto op = static_cast<Op>(step.op());
    const model::Edge edge = model::Edge::from_word(line, model::file_core_bits(processors));
    if (op > Op::after || (step.awaited() && op != Op::pass)) {
        throw Malformed("has an event of an unknown kind");
    }
    if (op == Op::after && edge.processor >= processors) {
        throw Malformed("has an ordering edge to a processor that the machine does not have");
    }
    if (op == Op::after && edge.wait > model::Wait::before) {
        throw Malformed("has an ordering edge with an unknown kind of wait");
    }
    if ((op == Op::signal || op == Op::wait) && line >= signals) {
        throw Malformed("names an interrupt that the epoch does not have");
    }
}

}  // namespace

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
        throw Malformed("has bytes after its columns");
    }
    std::fill(lasts_.begin(), lasts_.end(), Lasts{});
    index_ = 0;
    instructions_ = 0;
}

void Decoder::end() const {
    if (std::any_of(columns_.begin(), columns_.end(), [](const Cursor& c) { return c.left() != 0; })) {
        throw Malformed("has values that belong to no epoch");
    }
}

void Decoder::take(model::Epoch& epoch) {
    Cursor& in = column(Column::epochs);
    const auto flags = in.take<std::uint8_t>();
    if ((flags & kMarkMask) > static_cast<unsigned>(model::Mark::exit) || flags >= kHasSignals * 2) {
        throw Malformed("has an unknown mark");
    }
    epoch.streams.resize(lasts_.size());
    epoch.placed = placed_;
    epoch.mark = static_cast<model::Mark>(flags & kMarkMask);
    instructions_ += in.take_varint();
    index_ += in.take_varint();
    epoch.instructions = instructions_;
    epoch.index = index_;
    epoch.idle_before_ns = (flags & kHasIdle) != 0 ? in.take_varint() : 0;
    const std::uint64_t signals = (flags & kHasSignals) != 0 ? in.take_varint() : 0;
    const model::CoreSet ran = take_set(in);
    const model::CoreSet runs_on = take_set(in);
    const auto known = model::CoreSet::below(static_cast<unsigned>(lasts_.size()));
    if (!((ran | runs_on) - known).empty()) {
        throw Malformed("names a processor that the machine does not have");
    }
    if (signals > column(Column::steps).left()) {
        throw Malformed("has more interrupts than events");
    }
    epoch.signals = static_cast<std::uint32_t>(signals);
    for (unsigned p = 0; p < lasts_.size(); ++p) {
        model::Stream& stream = epoch.streams[p];
        stream.size = 0;
        stream.tail = 0;
        stream.ran = ran.has(p);
        stream.runs_on = runs_on.has(p);
        if (stream.ran) {
            take_stream(stream, lasts_[p], epoch.signals);
        }
    }
    take_counts(epoch);
}

/// Reads a set of processors: whole words, with one bit for each processor of the machine.
model::CoreSet Decoder::take_set(Cursor& in) const {
    model::CoreSet set;
    for (unsigned i = 0; i < model::CoreSet::words_for(static_cast<unsigned>(lasts_.size())); ++i) {
        set = set | model::CoreSet::of_word(in.take<model::CoreSet::Word>(), i);
    }
    return set;
}

/// Converts the words of ordering edges. The number of bits for a processor depends on the machine in a file,
/// and on the largest machine in this program.
void Decoder::widen_edges(model::Stream& stream) const {
    const unsigned bits = model::file_core_bits(lasts_.size());
    if (bits == model::kCoreBits) {
        return;
    }
    for (std::size_t i = 0; i < stream.size; ++i) {
        if (Event& event = stream.events[i]; event.op == Op::after) {
            event.set_edge(model::Edge::from_word(event.line, bits));
        }
    }
}

/// Reads a stream's number of events and instructions after the last event. Makes room for the events, and
/// returns their number.
std::uint64_t Decoder::take_size(model::Stream& stream) {
    const std::uint64_t size = column(Column::epochs).take_varint();
    stream.tail = column(Column::epochs).take_varint();
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
    return size;
}

void Decoder::take_stream(model::Stream& stream, Lasts& lasts, std::uint32_t signals) {
    const std::uint64_t size = take_size(stream);
    const std::uint8_t* const steps = column(Column::steps).take_bytes(size);
    const std::uint8_t* const deltas = column(Column::deltas).take_bytes(size);
    Cursor& code = column(Column::code);
    Cursor& data = column(Column::data);
    Cursor& edges = column(Column::edges);
    // The line of an event is in one of three columns, which is selected by an index. The host could not
    // predict a branch.
    std::array<const std::uint8_t*, 3> at{data.position(), code.position(), edges.position()};
    std::array<model::Line, 3> last{lasts.data, lasts.code, lasts.edge};
    std::uint16_t context = static_cast<std::uint16_t>(lasts.context << 8);
    model::Line highest = 0;
    for (std::size_t done = 0; done < size;) {
        const std::size_t until = std::min<std::size_t>(size, done + kChunk);
        for (; done < until; ++done) {
            const StepInfo& step = kSteps[steps[done]];
            std::uint32_t folded = 0;
            std::memcpy(&folded, at[step.column], sizeof folded);
            at[step.column] += step.bytes;
            const model::Line line = last[step.column] + LineDifference::unfold(folded & step.mask);
            last[step.column] = line;
            if (step.new_context) [[unlikely]] {
                context = take_context();
            }
            std::uint64_t delta = deltas[done];
            if (delta == kLongDelta) [[unlikely]] {
                delta = column(Column::long_deltas).take<std::uint16_t>();
                if (delta > model::kLongestDelta) {
                    throw Malformed("has an event with an impossible number of instructions before it");
                }
            }
            if (step.access) [[likely]] {
                highest = std::max(highest, line);
            } else {
                check_other(steps[done], line, signals, lasts_.size());
            }
            const std::uint64_t event = line | delta << 32 | std::uint64_t{step.awaited} << kAwaitedBit |
                                        static_cast<std::uint64_t>(step.event | context) << 48;
            std::memcpy(static_cast<void*>(&stream.events[done]), &event, sizeof event);
        }
        if (at[1] > code.end() || at[0] > data.end() || at[2] > edges.end()) {
            throw Malformed("has fewer lines than events");
        }
    }
    lasts = {last[1], last[0], last[2], static_cast<std::uint8_t>(context >> 8)};
    if (size != 0 && highest >= lines_) {
        throw Malformed("names a line outside of the guest's memory");
    }
    code.take_bytes(static_cast<std::size_t>(at[1] - code.position()));
    data.take_bytes(static_cast<std::size_t>(at[0] - data.position()));
    edges.take_bytes(static_cast<std::size_t>(at[2] - edges.position()));
    widen_edges(stream);
    if (placed_) {
        take_ways(stream);
    }
}

void Decoder::take_ways(model::Stream& stream) {
    const std::uint8_t* const ways = column(Column::ways).take_bytes(stream.size);
    for (std::size_t i = 0; i < stream.size; ++i) {
        stream.events[i].set_l1_way(ways[i]);
    }
}

/// Reads a context. Returns it in the high byte of 16 bits, as in the last two bytes of an Event.
std::uint16_t Decoder::take_context() {
    const auto context = column(Column::contexts).take<std::uint8_t>();
    if (context >= model::kContexts) {
        throw Malformed("has an event of an unknown class");
    }
    return static_cast<std::uint16_t>(context << 8);
}

void Decoder::take_counts(model::Epoch& epoch) {
    const bool marked = epoch.mark != model::Mark::none;
    if (!marked && !epoch.counted) {
        return;
    }
    epoch.counted = marked;
    Cursor& in = column(Column::epochs);
    if (marked) {
        for (auto& outcomes : epoch.transactions) {
            for (std::uint64_t& n : outcomes) {
                n = in.take_varint();
            }
        }
        for (auto* const counts : {&epoch.slices.slices, &epoch.slices.instructions}) {
            for (std::uint64_t& n : *counts) {
                n = in.take_varint();
            }
        }
    } else {
        epoch.transactions = {};
        epoch.slices = {};
    }
    for (model::Stream& stream : epoch.streams) {
        stream.clear_counts();
        if (!marked) {
            continue;
        }
        stream.used = in.take<std::uint64_t>();
        if ((stream.used >> model::kContexts) != 0) {
            stream.used = 0;
            throw Malformed("counts an unknown class");
        }
        stream.each_used([&](model::Context context) {
            const unsigned c = context.value;
            stream.instructions[c] = in.take_varint();
            for (std::uint64_t& n : stream.accesses[c]) {
                n = in.take_varint();
            }
            for (std::uint64_t& n : stream.classes[c]) {
                n = in.take_varint();
            }
        });
    }
}

}  // namespace s80::trace
