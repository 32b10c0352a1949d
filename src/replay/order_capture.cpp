// SPDX-License-Identifier: GPL-2.0-or-later
// The commands `export`, `import` and `info` of s80-order: convert captures to totally ordered traces and
// back, and describe a capture.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <vector>

#include "checkpoint/state_file.h"
#include "replay/order.h"
#include "replay/order_commands.h"
#include "replay/replay.h"
#include "timing/merger.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace s80::replay {

namespace {

std::string read_text(const std::string& path) {
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.good() && !in.eof()) {
        throw model::Error(path + ": cannot be read");
    }
    return text;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            out += escape;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

/// Writes `count` accesses of a capture as a trace, in the order in which the timing merger plays them, from
/// access number `first` on. Ticks never decrease: if processors were busy beyond the end of an epoch, the
/// ticks of the next epoch begin when the last of them has ended.
class Exporter : public model::Observer {
public:
    Exporter(OrderWriter& out, const model::Machine& machine, const model::TimingMerger& merger,
             std::uint64_t first, std::uint64_t count)
        : out_(out), merger_(merger), first_(first), end_(first + count), hz_(machine.clock_hz) {}

    void event(unsigned processor, const model::Event& event, std::int64_t clock) override {
        if (!event.is_access()) {
            return;
        }
        if (!begun_) {
            begin_ = std::max(last_, merger_.clock_ns() * 1000);
            begun_ = true;
        }
        const std::uint64_t tick = begin_ + picoseconds(clock);
        last_ = std::max(last_, tick);
        if (seen_ == first_ && before_first_) {
            before_first_();
        }
        if (seen_ >= first_ && seen_ < end_) {
            out_.write({tick, event.line, static_cast<std::uint8_t>(processor),
                        static_cast<std::uint8_t>(event.op), event.context.value, 0});
        }
        ++seen_;
    }
    void end(const model::Epoch&) override { begun_ = false; }
    /// Sets a function that is called once, before the first written access is played.
    void before_first(std::function<void()> fn) { before_first_ = std::move(fn); }

    bool whole() const { return seen_ >= end_; }
    std::uint64_t seen() const { return seen_; }

private:
    std::uint64_t picoseconds(std::int64_t clock) const {
        return static_cast<std::uint64_t>(static_cast<double>(clock) / 256.0 * 1e12 /
                                          static_cast<double>(hz_));
    }
    OrderWriter& out_;
    const model::TimingMerger& merger_;
    std::uint64_t first_, end_, hz_;
    std::uint64_t seen_ = 0;
    std::uint64_t begin_ = 0;  ///< tick at which the played epoch begins
    std::uint64_t last_ = 0;
    bool begun_ = false;
    std::function<void()> before_first_;
};

/// Writes a trace as a capture. Each epoch has events of one processor only, so that a replay plays the
/// accesses in the order of the trace.
class Importer {
public:
    Importer(trace::Writer& out, unsigned processors) : out_(out), epoch_(processors) {}

    /// Adds an access. `instructions`: what the processor has executed since its last access, including the
    /// instruction that makes this access.
    void add(const Access& access, std::uint64_t instructions) {
        for (; instructions > model::kLongestDelta; instructions -= model::kLongestDelta) {
            next(access, model::Event::pass(), model::kLongestDelta);
        }
        next(access, model::Event::access(access.kind(), access.line), instructions);
        model::Stream& stream = epoch_.streams[current_];
        ++stream.accesses[access.context][access.op];
        --stream.classes[access.context][static_cast<unsigned>(model::InstructionClass::other)];
        ++stream.classes[access.context][static_cast<unsigned>(class_of(access.kind()))];
    }

    /// Ends the epoch with this mark. An epoch with a mark other than `none` must have no events.
    void flush(model::Mark mark) {
        epoch_.mark = mark;
        epoch_.index = index_;
        epoch_.instructions = instructions_;
        index_ += mark == model::Mark::none ? 0 : 1;
        out_.write(epoch_);
        for (model::Stream& stream : epoch_.streams) {
            std::vector<model::Event> storage = std::move(stream.events);
            stream = {};
            stream.events = std::move(storage);
        }
        empty_ = true;
    }

private:
    static constexpr std::size_t kMost = 9000;  ///< largest number of events of an epoch

    /// Adds an event of the processor that makes `access`, this number of instructions after its last event.
    void next(const Access& access, model::Event event, std::uint64_t instructions) {
        if (!empty_ && (access.processor != current_ || epoch_.streams[current_].size == kMost)) {
            flush(model::Mark::none);
        }
        current_ = access.processor;
        empty_ = false;
        model::Stream& stream = epoch_.streams[current_];
        stream.ran = stream.runs_on = true;
        if (stream.events.size() == stream.size) {
            stream.events.emplace_back();
        }
        stream.events[stream.size++] = event.after_instructions(instructions, access.who());
        stream.use(access.who());
        stream.instructions[access.context] += instructions;
        stream.classes[access.context][static_cast<unsigned>(model::InstructionClass::other)] += instructions;
        instructions_ += instructions;
    }

    static model::InstructionClass class_of(model::Kind kind) {
        switch (kind) {
            case model::Kind::load: return model::InstructionClass::load;
            case model::Kind::store: return model::InstructionClass::store;
            default: return model::InstructionClass::other;
        }
    }
    trace::Writer& out_;
    model::Epoch epoch_;
    unsigned current_ = 0;
    bool empty_ = true;
    std::uint64_t index_ = 0;
    std::uint64_t instructions_ = 0;
};

}  // namespace

void export_order(const Options& options) {
    trace::Reader reader(options.need("capture"));
    if (reader.header().form != trace::Form::full) {
        throw model::Error(
            options.need("capture") +
            ": is a filtered capture, without the accesses that an L1 absorbs; use a full one");
    }
    const auto machine = model::Machine::load(options.need("machine"));
    const auto protocol = model::Protocol::load(options.need("protocol"));
    check(reader.header(), machine);
    model::Hierarchy hierarchy(machine, protocol, reader.header().lines);
    model::TimingMerger merger(hierarchy);
    const std::string state = options.text("state", "");
    if (!state.empty()) {
        restore_if_same(reader.header(), machine, state, hierarchy, merger);
    }
    OrderWriter out(options.need("out"));
    const std::uint64_t first = options.number("first", 0);
    const std::uint64_t count = options.number("count", UINT64_MAX - first);
    Exporter exporter(out, machine, merger, first, count);
    merger.observe(exporter);
    if (!state.empty()) {
        exporter.before_first([&] { model::save_state(state, hierarchy, merger, {}); });
    }
    model::Epoch epoch(machine.processors);
    while (!exporter.whole() && reader.next(epoch)) {
        merger.play(epoch);
    }
    if (first >= exporter.seen()) {
        throw model::Error(options.need("capture") + ": has only " + std::to_string(exporter.seen()) +
                           " accesses, so first=" + std::to_string(first) + " is too large");
    }
    out.close();
}

void import_order(const Options& options) {
    const std::string machine_file = options.need("machine");
    const auto machine = model::Machine::load(machine_file);
    const std::uint64_t limit = options.number("lines", 0);
    const auto order = read_order(options.need("order"), machine, limit == 0 ? model::kNoLine : limit);
    trace::Header header;
    header.form = trace::Form::full;
    header.processors = machine.processors;
    header.lines = limit == 0 ? lines_of(order) : limit;
    header.machine = read_text(machine_file);
    header.protocol = options.text("protocol", "none");
    header.origin = options.text("origin", "{}");
    trace::Writer writer(options.need("out"), header);
    Importer importer(writer, machine.processors);
    importer.flush(model::Mark::load_begin);
    importer.flush(model::Mark::measure_begin);
    const bool counted = options.number("counted", 0) != 0;
    std::vector<std::uint64_t> ended(machine.processors);  // by processor: tick after its last access
    for (const Access& access : order) {
        std::uint64_t& end = ended[access.processor];
        const std::uint64_t instructions = counted && access.tick > end ? access.tick - end + 1 : 1;
        importer.add(access, instructions);
        end = std::max(end, access.tick) + 1;
    }
    importer.flush(model::Mark::none);
    importer.flush(model::Mark::measure_end);
    writer.close();
}

void capture_info(const Options& options) {
    const trace::Reader reader(options.need("capture"));
    const trace::Header& h = reader.header();
    const trace::Totals& t = reader.totals();
    std::ostringstream out;
    out << "{\"form\":" << (h.form == trace::Form::full ? "\"full\"" : "\"filtered\"")
        << ",\"processors\":" << h.processors << ",\"lines\":" << h.lines
        << ",\"machine\":" << quoted(h.machine) << ",\"protocol\":" << quoted(h.protocol)
        << ",\"origin\":" << quoted(h.origin) << ",\"warm\":" << (h.state.empty() ? "false" : "true")
        << ",\"epochs\":" << t.epochs << ",\"events\":" << t.events << ",\"accesses\":" << t.accesses
        << ",\"instructions\":" << t.instructions << "}";
    std::puts(out.str().c_str());
}

}  // namespace s80::replay
