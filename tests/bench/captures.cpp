// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/captures.h"

#include <cstdlib>
#include <filesystem>
#include <random>

#include "coherence/protocol.h"
#include "resolved_machine.h"
#include "trace/filter.h"
#include "trace/writer.h"

namespace s80::bench {

namespace {

constexpr std::uint64_t kLines = 1U << 24;
constexpr unsigned kEpochs = 400;
constexpr unsigned kEvents = 4000;  // of a processor in a epoch

/// Nine of ten accesses to a few lines, the others anywhere in what a processor has, or in what all share.
model::Epoch synthetic_epoch(std::mt19937& random, unsigned processors, std::uint64_t& instructions) {
    model::Epoch epoch(processors);
    for (unsigned p = 0; p < processors; ++p) {
        model::Stream& stream = epoch.streams[p];
        stream.ran = true;
        stream.runs_on = true;
        for (unsigned i = 0; i < kEvents; ++i) {
            const std::uint32_t r = random();
            const std::uint32_t own = (p + 1) << 18;
            model::Event event;
            event.op = static_cast<model::Op>("\0\0\1\1\1\1\2\2"[r & 7]);
            event.delta = static_cast<std::uint16_t>(r >> 3 & 15);
            event.line = r % 10 != 0   ? own + (r >> 7) % 256
                         : r % 40 != 0 ? own + (r >> 7) % 60'000
                                       : (r >> 7) % 4096;
            stream.use(model::Context{});
            stream.instructions[0] += event.delta;
            ++stream.accesses[0][static_cast<unsigned>(event.op)];
            stream.events.push_back(event);
        }
        stream.size = stream.events.size();
        instructions += stream.instructions[0];
    }
    epoch.instructions = instructions;
    return epoch;
}

Captures synthetic() {
    std::string name = (std::filesystem::temp_directory_path() / "s80-bench-XXXXXX").string();
    static const std::filesystem::path folder = mkdtemp(name.data());
    std::atexit([] { std::filesystem::remove_all(folder); });
    Captures result{folder / "full.s80c", folder / "filtered.s80c"};

    const auto machine = model::Machine::parse(test::kResolvedS80, "the benchmark's machine");
    trace::Header header;
    header.processors = machine.processors;
    header.lines = kLines;
    header.machine = test::kResolvedS80;
    header.protocol = "moesi";
    trace::Writer full(result.full, header);
    header.form = trace::Form::filtered;
    trace::Writer filtered(result.filtered, header);
    model::Hierarchy hierarchy(machine, model::Protocol::load(S80_CONFIGS "/protocols/moesi.toml"), kLines);
    model::TimingMerger merger(hierarchy);
    trace::L1Filter filter(machine);
    merger.observe(filter);
    std::mt19937 random(1);
    std::uint64_t instructions = 0;
    for (unsigned w = 1; w <= kEpochs; ++w) {
        model::Epoch epoch = synthetic_epoch(random, machine.processors, instructions);
        epoch.mark = w == kEpochs ? model::Mark::measure_end : model::Mark::none;
        merger.play(epoch);
        full.write(epoch);
        filtered.write(filter.epoch());
    }
    full.close();
    filtered.close();
    return result;
}

}  // namespace

const Captures& captures() {
    static const Captures all = [] {
        const char* const full = std::getenv("S80_BENCH_FULL");
        const char* const filtered = std::getenv("S80_BENCH_FILTERED");
        if (full != nullptr && filtered != nullptr) {
            return Captures{full, filtered};
        }
        Captures made = synthetic();
        return Captures{full != nullptr ? full : made.full, filtered != nullptr ? filtered : made.filtered};
    }();
    return all;
}

Replay::Replay(const std::string& path, bool read_ahead)
    : reader_(path),
      hierarchy_(model::Machine::parse(reader_.header().machine, path),
                 model::Protocol::load(S80_CONFIGS "/protocols/" + reader_.header().protocol + ".toml"),
                 reader_.header().lines),
      merger_(hierarchy_),
      epoch_(reader_.header().processors),
      total_(reader_.totals().last - reader_.totals().instructions) {
    if (read_ahead) {
        ahead_.emplace(reader_);
    }
}

bool Replay::play(unsigned epochs) {
    events_ = 0;
    const std::uint64_t before = total_;
    bool more = true;
    while (epochs-- != 0 && (more = ahead_ ? ahead_->next(epoch_) : reader_.next(epoch_))) {
        merger_.play(epoch_);
        for (const model::Stream& stream : epoch_.streams) {
            events_ += stream.size;
        }
        total_ = epoch_.instructions;
    }
    instructions_ = total_ - before;
    return more;
}

}  // namespace s80::bench
