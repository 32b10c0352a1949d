// SPDX-License-Identifier: GPL-2.0-or-later
// How fast captures are written, read and played. Rates are per second of processor time: a replay keeps one
// core of the host busy. With a capture that is read ahead, on a second core, they are per second.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <optional>

#include "bench/captures.h"
#include "bench/tag_walk.h"
#include "trace/filter.h"
#include "trace/writer.h"

namespace s80::bench {

namespace {

using benchmark::Counter;

constexpr unsigned kEpochs = 20;  ///< of an iteration
/// Of a tag walk: epochs before those that are noted, and accesses noted at least.
constexpr unsigned kWarmUp = 600;
constexpr std::size_t kNoted = 20'000'000;

Counter rate(std::uint64_t n) {
    return {static_cast<double>(n), Counter::kIsRate};
}

/// An iteration is a row of epochs; behind the end the capture begins again.
void replay(benchmark::State& state, const std::string& path, bool read_ahead = false) {
    std::optional<Replay> replay;
    std::uint64_t events = 0;
    std::uint64_t instructions = 0;
    for (auto _ : state) {
        if (!replay) {
            state.PauseTiming();
            replay.emplace(path, read_ahead);
            state.ResumeTiming();
        }
        const bool more = replay->play(kEpochs);
        events += replay->events();
        instructions += replay->instructions();
        if (!more) {
            state.PauseTiming();
            replay.reset();
            state.ResumeTiming();
        }
    }
    state.counters["events"] = rate(events);
    state.counters["instructions"] = rate(instructions);
}

void replay_filtered(benchmark::State& state) {
    replay(state, captures().filtered);
}

void replay_full(benchmark::State& state) {
    replay(state, captures().full);
}

void replay_filtered_read_ahead(benchmark::State& state) {
    replay(state, captures().filtered, true);
}

void replay_full_read_ahead(benchmark::State& state) {
    replay(state, captures().full, true);
}

void tag_walk(benchmark::State& state) {
    Replay replay(captures().full);
    if (replay.reader().totals().epochs > 2 * kWarmUp) {
        replay.play(kWarmUp);
    }
    TagWalk walk(replay.hierarchy(), replay.reader().header().lines);
    replay.merger().observe(walk);
    while (walk.accesses() < kNoted && replay.play(kEpochs)) {
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(walk.walk());
    }
    state.counters["events"] = rate(state.iterations() * walk.accesses());
}

void read(benchmark::State& state, const std::string& path) {
    std::uint64_t events = 0;
    for (auto _ : state) {
        trace::Reader reader(path);
        model::Epoch epoch(reader.header().processors);
        while (reader.next(epoch)) {
            benchmark::DoNotOptimize(epoch.streams.data());
        }
        events += reader.totals().events;
    }
    state.counters["events"] = rate(events);
}

void read_full(benchmark::State& state) {
    read(state, captures().full);
}

void read_filtered(benchmark::State& state) {
    read(state, captures().filtered);
}

/// Epochs in memory: what the plugin's merger adds to write a capture.
std::vector<model::Epoch> some_epochs(trace::Reader& reader, std::size_t events) {
    std::vector<model::Epoch> epochs;
    model::Epoch epoch(reader.header().processors);
    for (std::size_t n = 0; n < events && reader.next(epoch);) {
        epochs.push_back(epoch);
        epochs.back().mark = model::Mark::interval;  // any of them may be the last
        for (const model::Stream& stream : epoch.streams) {
            n += stream.size;
        }
    }
    return epochs;
}

void write_full(benchmark::State& state) {
    trace::Reader reader(captures().full);
    const auto epochs = some_epochs(reader, 5'000'000);
    const auto path = std::filesystem::temp_directory_path() / "s80-bench-write.s80c";
    std::uint64_t events = 0;
    for (auto _ : state) {
        trace::Writer writer(path, reader.header());
        for (const model::Epoch& epoch : epochs) {
            writer.write(epoch);
        }
        writer.close();
        events += writer.totals().events;
        state.counters["bytes_per_event"] =
            static_cast<double>(writer.bytes()) / static_cast<double>(writer.totals().events);
    }
    std::filesystem::remove(path);
    state.counters["events"] = rate(events);
}

/// The filter alone, on streams one after the other: the hierarchy is not played.
void filter(benchmark::State& state) {
    trace::Reader reader(captures().full);
    const auto epochs = some_epochs(reader, 5'000'000);
    trace::L1Filter filter(model::Machine::parse(reader.header().machine, captures().full));
    std::uint64_t events = 0;
    for (auto _ : state) {
        for (const model::Epoch& epoch : epochs) {
            for (unsigned p = 0; p < epoch.streams.size(); ++p) {
                const model::Stream& stream = epoch.streams[p];
                for (std::size_t i = 0; i < stream.size; ++i) {
                    filter.event(p, stream.events[i], 0);
                }
                events += stream.size;
            }
            filter.end(epoch);
        }
    }
    state.counters["events"] = rate(events);
}

BENCHMARK(replay_filtered)->Unit(benchmark::kMillisecond)->MinTime(5);
BENCHMARK(replay_full)->Unit(benchmark::kMillisecond)->MinTime(5);
BENCHMARK(replay_filtered_read_ahead)->Unit(benchmark::kMillisecond)->MinTime(5)->UseRealTime();
BENCHMARK(replay_full_read_ahead)->Unit(benchmark::kMillisecond)->MinTime(5)->UseRealTime();
BENCHMARK(tag_walk)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK(read_full)->Unit(benchmark::kMillisecond);
BENCHMARK(read_filtered)->Unit(benchmark::kMillisecond);
BENCHMARK(write_full)->Unit(benchmark::kMillisecond);
BENCHMARK(filter)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace s80::bench

BENCHMARK_MAIN();
