// SPDX-License-Identifier: GPL-2.0-or-later
// What is written is read.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "capture_file.h"
#include "epochs.h"

namespace s80::test {

namespace {

using model::Epoch;
using model::Mark;
using model::Stream;

void expect_same_events(const Stream& a, const Stream& b) {
    RC_ASSERT(a.ran == b.ran);
    RC_ASSERT(a.runs_on == b.runs_on);
    RC_ASSERT(a.size == b.size);
    RC_ASSERT(a.tail == b.tail);
    for (std::size_t i = 0; i < a.size; ++i) {
        RC_ASSERT(a.events[i].line == b.events[i].line);
        RC_ASSERT(a.events[i].delta == b.events[i].delta);
        RC_ASSERT(a.events[i].awaited == b.events[i].awaited);
        RC_ASSERT(a.events[i].op == b.events[i].op);
        RC_ASSERT(a.events[i].way == b.events[i].way);
        RC_ASSERT(a.events[i].context.value == b.events[i].context.value);
    }
}

void expect_same(const Epoch& a, const Epoch& b) {
    RC_ASSERT(a.placed == b.placed);
    RC_ASSERT(a.signals == b.signals);
    RC_ASSERT(a.idle_before_ns == b.idle_before_ns);
    RC_ASSERT(a.mark == b.mark);
    RC_ASSERT(a.index == b.index);
    RC_ASSERT(a.instructions == b.instructions);
    RC_ASSERT(a.transactions == b.transactions);
    RC_ASSERT(a.slices == b.slices);
    RC_ASSERT(a.streams.size() == b.streams.size());
    for (std::size_t p = 0; p < a.streams.size(); ++p) {
        expect_same_events(a.streams[p], b.streams[p]);
    }
}

/// The counters of all epochs since the last mark are those of the epoch with the mark; the others have
/// none.
void expect_counts_at_marks(const std::vector<Epoch>& written, const std::vector<Epoch>& read) {
    std::vector<Stream> sums(written[0].streams.size());
    for (std::size_t w = 0; w < written.size(); ++w) {
        const bool marked = written[w].mark != Mark::none;
        RC_ASSERT(read[w].counted == marked);
        for (std::size_t p = 0; p < sums.size(); ++p) {
            sums[p].add_counts(written[w].streams[p]);
            const Stream& expected = marked ? sums[p] : Stream{};
            RC_ASSERT(read[w].streams[p].instructions == expected.instructions);
            RC_ASSERT(read[w].streams[p].accesses == expected.accesses);
            RC_ASSERT(read[w].streams[p].classes == expected.classes);
        }
        if (marked) {
            sums.assign(sums.size(), Stream{});
        }
    }
}

}  // namespace

TEST(RoundTrip, EpochsComeBackAsTheyWere) {
    EXPECT_TRUE(rc::check([](std::uint32_t seed, bool placed) {
        const auto processors = *rc::gen::inRange(1U, 19U);
        // All widths of lines occur.
        const auto lines = *rc::gen::element<std::uint32_t>(4, 200, 50'000, 0xffff'ffff);
        Shape shape;
        shape.processors = processors;
        shape.lines = lines;
        shape.placed = placed;
        shape.ways = 16;
        const auto epochs = RandomEpochs(seed, shape).all();
        const TemporaryFile file;
        write_capture(file.path(), header_for(placed, processors, lines), epochs);
        const auto read = read_capture(file.path());
        RC_ASSERT(read.size() == epochs.size());
        for (std::size_t w = 0; w < epochs.size(); ++w) {
            expect_same(epochs[w], read[w]);
        }
        expect_counts_at_marks(epochs, read);
    }));
}

TEST(RoundTrip, HeaderStateAndTotals) {
    const TemporaryFile file;
    trace::Header header = header_for(true);
    header.state.assign(100'000, 'x');
    const auto epochs = RandomEpochs(7, {.placed = true}).all();
    write_capture(file.path(), header, epochs);
    const trace::Reader reader(file.path());
    EXPECT_EQ(reader.header().form, trace::Form::filtered);
    EXPECT_EQ(reader.header().processors, 3U);
    EXPECT_EQ(reader.header().lines, 64U);
    EXPECT_EQ(reader.header().machine, kMachine);
    EXPECT_EQ(reader.header().protocol, "moesi");
    EXPECT_EQ(reader.header().origin, R"({"experiment":"test"})");
    EXPECT_EQ(reader.header().state, header.state);
    trace::Totals expected;
    expected.epochs = epochs.size();
    expected.last = epochs.back().instructions;
    expected.instructions = expected.last - 1000;
    for (const Epoch& epoch : epochs) {
        for (const Stream& stream : epoch.streams) {
            expected.events += stream.size;
            for (const auto& kinds : stream.accesses) {
                expected.accesses += std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0});
            }
        }
    }
    EXPECT_EQ(reader.totals(), expected);
}

TEST(RoundTrip, ManyBlocks) {
    const TemporaryFile file;
    const Shape shape{.processors = 18, .lines = 1'000'000, .epochs = 300, .events = 400};
    const auto epochs = RandomEpochs(11, shape).all();
    write_capture(file.path(), header_for(false, 18, shape.lines), epochs);
    const auto read = read_capture(file.path());
    ASSERT_EQ(read.size(), epochs.size());
    EXPECT_GT(std::filesystem::file_size(file.path()), 2U << 20);
    for (std::size_t w = 0; w < epochs.size(); ++w) {
        EXPECT_NO_THROW(expect_same(epochs[w], read[w])) << "window " << w;
    }
}

TEST(RoundTrip, MachineWithAsManyProcessorsAsTheProgramHas) {
    const TemporaryFile file;
    const Shape shape{.processors = model::kMaxCores, .lines = 1'000'000, .epochs = 20, .events = 40};
    const auto epochs = RandomEpochs(11, shape).all();
    write_capture(file.path(), header_for(false, model::kMaxCores, shape.lines), epochs);
    const auto read = read_capture(file.path());
    ASSERT_EQ(read.size(), epochs.size());
    for (std::size_t w = 0; w < epochs.size(); ++w) {
        EXPECT_NO_THROW(expect_same(epochs[w], read[w])) << "window " << w;
    }
}

TEST(RoundTrip, NothingBehindTheLastEpoch) {
    const TemporaryFile file;
    write_capture(file.path(), header_for(false), RandomEpochs(1, {.epochs = 1}).all());
    trace::Reader reader(file.path());
    Epoch epoch(3);
    EXPECT_TRUE(reader.next(epoch));
    EXPECT_FALSE(reader.next(epoch));
    EXPECT_FALSE(reader.next(epoch));
}

TEST(RoundTrip, ACaptureWithoutEpochsIsWhole) {
    const TemporaryFile file;
    write_capture(file.path(), header_for(false), {});
    EXPECT_TRUE(read_capture(file.path()).empty());
}

}  // namespace s80::test
