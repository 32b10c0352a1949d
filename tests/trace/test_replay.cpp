// SPDX-License-Identifier: GPL-2.0-or-later
// A run and the replay of its capture.
#include "replay/replay.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>

#include "capture_file.h"
#include "checkpoint/state_file.h"
#include "coherence/protocol.h"
#include "epochs.h"
#include "model/drawn_epoch.h"
#include "model/ordered_epoch.h"
#include "observe/snapshot.h"
#include "timing/merger.h"
#include "trace/filter.h"
#include "trace/read_ahead.h"

namespace s80::test {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLines = 4096;

class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / "s80-test-XXXXXX") {
        std::string name = path_.string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const char* name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

std::string protocol_file() {
    return std::string(S80_CONFIGS) + "/protocols/moesi.toml";
}

/// A run beside which captures are written, as the plugin does it.
class Live {
public:
    Live(const Folder& folder, const model::Machine& machine)
        : folder_(folder),
          machine_(machine),
          hierarchy_(machine, model::Protocol::load(protocol_file()), kLines) {}

    void play(const std::vector<model::Epoch>& epochs, const std::string& state = "") {
        model::SnapshotWriter snapshots(folder_ / "live.jsonl", hierarchy_);
        trace::L1Filter filter(machine_);
        trace::Header header = header_for(false, machine_.processors, kLines);
        header.state = state;
        trace::Writer full(folder_ / "full.s80c", header);
        trace::Writer filtered(folder_ / "filtered.s80c", header_for(true, machine_.processors, kLines));
        merger_.observe(filter);
        for (const model::Epoch& epoch : epochs) {
            merger_.play(epoch);
            snapshots.write(epoch, merger_, hierarchy_.stats());
            full.write(epoch);
            filtered.write(filter.epoch());
        }
        full.close();
        filtered.close();
    }
    model::Hierarchy& hierarchy() { return hierarchy_; }
    model::TimingMerger& merger() { return merger_; }

private:
    const Folder& folder_;
    model::Machine machine_;
    model::Hierarchy hierarchy_;
    model::TimingMerger merger_{hierarchy_};
};

replay::Result replayed(const Folder& folder, const char* capture, const char* read_ahead = "no") {
    std::ofstream(folder / "machine.toml") << kMachine;
    return replay::replay(
        {folder / capture, folder / "machine.toml", protocol_file(), folder.path(), read_ahead},
        [](std::uint64_t, std::uint64_t) {});
}

std::string text(const std::string& path) {
    return TemporaryFile::read_file(path);
}

/// Not by EXPECT_EQ, which would print both.
bool same_text(const std::string& a, const std::string& b) {
    return text(a) == text(b);
}

}  // namespace

TEST(Replay, OfAFullCaptureWritesTheSameBytes) {
    EXPECT_TRUE(rc::check([](std::uint32_t seed) {
        const Folder folder;
        Live live(folder, model::Machine::parse(kMachine, "the test's machine"));
        live.play(RandomEpochs(seed, {.lines = 512, .epochs = 20}).all());
        const auto result = replayed(folder, "full.s80c");
        RC_ASSERT(same_text(folder / "snapshots.jsonl", folder / "live.jsonl"));
        RC_ASSERT(result.accesses == live.hierarchy().stats().sum(model::Stat::accesses));
        RC_ASSERT(result.instructions == live.hierarchy().stats().sum(model::Stat::instructions));
        replayed(folder, "full.s80c", "yes");
        RC_ASSERT(same_text(folder / "snapshots.jsonl", folder / "live.jsonl"));
    }));
}

TEST(Replay, OfARestoredRunBeginsWithItsCaches) {
    const Folder folder;
    const model::Machine machine = model::Machine::parse(kMachine, "the test's machine");
    auto epochs = RandomEpochs(3, {.lines = 512, .epochs = 40}).all();
    epochs[19].mark = model::Mark::interval;  // a capture ends with a mark
    Live before(folder, machine);
    before.play({epochs.begin(), epochs.begin() + 20});
    model::save_state(folder / "state", before.hierarchy(), before.merger(), {});
    Live live(folder, machine);
    model::load_state(folder / "state", live.hierarchy(), live.merger());
    live.play({epochs.begin() + 20, epochs.end()}, text(folder / "state"));
    replayed(folder, "full.s80c");
    EXPECT_TRUE(same_text(folder / "snapshots.jsonl", folder / "live.jsonl"));
}

TEST(Replay, LeavesNothingPartial) {
    const Folder folder;
    Live live(folder, model::Machine::parse(kMachine, "the test's machine"));
    live.play(RandomEpochs(3, {.lines = 512, .epochs = 5}).all());
    std::string bytes = text(folder / "full.s80c");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    std::ofstream(folder / "full.s80c", std::ios::binary) << bytes;
    const std::string sentence = error_of([&] { replayed(folder, "full.s80c"); });
    EXPECT_NE(sentence.find("full.s80c"), std::string::npos);
    EXPECT_EQ(error_of([&] { replayed(folder, "full.s80c", "yes"); }), sentence);
    EXPECT_FALSE(fs::exists(folder / "snapshots.jsonl"));
}

TEST(Replay, EndsTheReaderWithThePlayer) {
    const Folder folder;
    write_capture(folder / "full.s80c", header_for(false, 3, kLines),
                  RandomEpochs(3, {.lines = 512, .epochs = 100}).all());
    trace::Reader reader(folder / "full.s80c");
    model::Epoch epoch(3);
    trace::ReadAhead ahead(reader);
    EXPECT_TRUE(ahead.next(epoch));  // the reader waits with a full ring when the scope ends
}

namespace {

/// Two epochs, each with a part of the accesses.
std::vector<model::Epoch> epochs_of(const std::vector<model::test::Access>& executed) {
    const auto middle = executed.begin() + static_cast<std::ptrdiff_t>(executed.size() / 2);
    std::vector<model::Epoch> epochs{model::test::epoch_of({executed.begin(), middle}, 3),
                                     model::test::epoch_of({middle, executed.end()}, 3)};
    epochs.back().mark = model::Mark::measure_end;
    return epochs;
}

/// Plays a capture on this machine. Returns how many accesses were played; none may be out of order.
std::size_t played_in_order(const std::string& path, const model::Machine& machine,
                            const std::vector<model::test::Access>& executed) {
    model::Hierarchy hierarchy(machine, model::Protocol::load(protocol_file()), kLines);
    model::TimingMerger merger(hierarchy);
    model::test::PlayedOrder order;
    merger.observe(order);
    for (const model::Epoch& epoch : read_capture(path)) {
        merger.play(epoch);
    }
    const auto violation = order.violation(executed);
    RC_LOG() << path << ": " << violation.value_or("");
    RC_ASSERT(!violation.has_value());
    return order.size();
}

}  // namespace

TEST(Replay, OnAnotherMachineKeepsTheOrderOfConflictingAccesses) {
    EXPECT_TRUE(rc::check([] {
        const auto executed = model::test::drawn_accesses(3);
        const Folder folder;
        model::Machine machine = model::Machine::parse(kMachine, "the test's machine");
        Live live(folder, machine);
        live.play(epochs_of(executed));
        machine.latency = {1, 5000, 10, 0};
        machine.base_cpi = 3.5;
        machine.quantum_cycles = *rc::gen::element(1U, 5000U);
        RC_ASSERT(played_in_order(folder / "full.s80c", machine, executed) == executed.size());
        RC_ASSERT(played_in_order(folder / "filtered.s80c", machine, executed) <= executed.size());
    }));
}

/// The filter absorbs the second load of X, which the store of the other processor awaits.
TEST(Replay, OfAFilteredCaptureKeepsAnEdgeToAnAbsorbedAccess) {
    using model::Op;
    const std::vector<model::test::Access> executed{{0, 4, Op::load, 1},
                                                    {0, 4, Op::load, 9000},
                                                    {0, 5, Op::store, 1},
                                                    {1, 4, Op::store, 1},
                                                    {1, 5, Op::load, 1}};
    const Folder folder;
    Live live(folder, model::Machine::parse(kMachine, "the test's machine"));
    model::Epoch epoch = model::test::epoch_of(executed, 3);
    epoch.mark = model::Mark::measure_end;
    live.play({epoch});
    const auto filtered = read_capture(folder / "filtered.s80c");
    ASSERT_EQ(filtered.size(), 1U);
    const model::Stream& stream = filtered[0].streams[0];
    ASSERT_EQ(stream.size, 3U);
    EXPECT_EQ(stream.events[0].op, Op::load);
    EXPECT_EQ(stream.events[1].op, Op::pass);
    EXPECT_EQ(stream.events[1].awaited, 1);
    EXPECT_EQ(stream.events[2].op, Op::store);
    model::Hierarchy hierarchy(model::Machine::parse(kMachine, "the test's machine"),
                               model::Protocol::load(protocol_file()), kLines);
    model::TimingMerger merger(hierarchy);
    merger.play(filtered[0]);
    EXPECT_EQ(hierarchy.stats().sum(model::Stat::order_waits),
              live.hierarchy().stats().sum(model::Stat::order_waits));
    EXPECT_EQ(merger.clock_ns(), live.merger().clock_ns());
}

/// One processor runs in each epoch: the order of the accesses is that of the epochs, whatever they cost,
/// so a run and a replay have the same.
std::vector<model::Epoch> one_processor_each(std::uint32_t seed, unsigned processors) {
    const Shape shape{.processors = processors,
                      .lines = 64,
                      .epochs = 60,
                      .events = 120,
                      .interrupts = false,
                      .edges = false};
    auto epochs = RandomEpochs(seed, shape).all();
    for (std::size_t w = 0; w < epochs.size(); ++w) {
        for (std::size_t p = 0; p < processors; ++p) {
            if (p != w % processors) {
                epochs[w].streams[p] = model::Stream{};
            }
        }
    }
    return epochs;
}

/// Without evictions from the L2s all that happens there is in the filtered capture. (An L1 of the machine
/// keeps lines that the filter gives up when another core reads them: hits of the L1 are not the same.)
void expect_same_in_the_l2s(model::Machine machine, std::uint32_t seed) {
    using enum model::Stat;
    machine.l2 = {16384, 4};  // twice the lines that are used
    const auto epochs = one_processor_each(seed, machine.processors);
    const Folder folder;
    Live live(folder, machine);
    live.play(epochs);
    model::Hierarchy hierarchy(machine, model::Protocol::load(protocol_file()), kLines);
    model::TimingMerger merger(hierarchy);
    for (const model::Epoch& epoch : read_capture(folder / "filtered.s80c")) {
        merger.play(epoch);
    }
    for (const model::Stat stat :
         {l2_misses, miss_source, fills, upgrades, stores_found_e, e_to_m, e_downgraded, e_evicted,
          e_invalidated, e_resident, l2_evictions, l2_writebacks, l2_invalidations, interventions, accesses,
          instructions, transactions}) {
        const auto a = live.hierarchy().stats().values(stat);
        const auto b = hierarchy.stats().values(stat);
        RC_LOG() << model::info(stat).name;
        RC_ASSERT(std::vector(a.begin(), a.end()) == std::vector(b.begin(), b.end()));
    }
}

TEST(Replay, OfAFilteredCaptureIsExactWithoutL2Evictions) {
    EXPECT_TRUE(rc::check([](std::uint32_t seed) {
        expect_same_in_the_l2s(model::Machine::parse(kMachine, "the test's machine"), seed);
    }));
}

TEST(Replay, OfAFilteredCaptureWithTwoThreadsACore) {
    EXPECT_TRUE(rc::check([](std::uint32_t seed) {
        model::Machine machine = model::Machine::parse(kMachine, "the test's machine");
        machine.processors = 4;
        machine.threads_per_core = 2;
        expect_same_in_the_l2s(machine, seed);
    }));
}

}  // namespace s80::test
