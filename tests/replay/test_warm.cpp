// SPDX-License-Identifier: GPL-2.0-or-later
// Traces that rebuild a warm state: states that random accesses leave on random machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "warm/trace.h"

namespace s80::replay {
namespace {

using model::Hierarchy;
using model::Kind;
using model::Line;
using model::Machine;

model::Protocol shipped(const std::string& name) {
    return model::Protocol::load(std::string(S80_CONFIGS) + "/protocols/" + name + ".toml");
}

struct Shape {
    unsigned cores, sets_l1i, ways_l1i, sets_l1d, ways_l1d, sets_l2, ways_l2;
};

Machine machine_of(const Shape& s) {
    constexpr unsigned kBytes = 64;
    const auto cache = [](unsigned sets, unsigned ways) {
        return model::CacheGeometry{std::uint64_t{sets} * ways * kBytes, ways};
    };
    Machine m;
    m.name = "drawn";
    m.processors = s.cores;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = kBytes;
    m.l1i = cache(s.sets_l1i, s.ways_l1i);
    m.l1d = cache(s.sets_l1d, s.ways_l1d);
    m.l2 = cache(s.sets_l2, s.ways_l2);
    m.l2_inclusion = "exclusive";
    m.latency = {8, 100, 120, 60};
    return m;
}

struct Mix {
    unsigned lines, stores, fetches, accesses;
};

void play(Hierarchy& state, const Mix& mix, std::mt19937_64& draw) {
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(draw() % limit); };
    for (unsigned i = 0; i < mix.accesses; ++i) {
        const unsigned kind = below(100);
        state.access(below(state.machine().cores()), below(mix.lines),
                     kind < mix.stores                 ? Kind::store
                     : kind < mix.stores + mix.fetches ? Kind::ifetch
                                                       : Kind::load,
                     {});
    }
}

/// Names of the states of all lines, by place: "l2 OC".
void collect(Hierarchy& state, std::set<std::string>& seen) {
    for (const Place place : {Place::l1i, Place::l1d, Place::l2}) {
        for (unsigned core = 0; core < state.caches().cores(); ++core) {
            const model::Cache& cache = cache_of(state.caches().core(core), place);
            for (Line set = 0; set < cache.sets(); ++set) {
                for (const Copy& copy : contents(cache, set)) {
                    seen.insert(std::string(place_name(place)) + " " +
                                state.protocol().state(copy.state).name);
                }
            }
        }
    }
}

const std::vector<Shape> kShapes{{2, 2, 1, 2, 1, 2, 1},  {3, 2, 2, 2, 2, 4, 2},  {4, 4, 2, 4, 2, 8, 4},
                                 {5, 4, 1, 8, 2, 16, 4}, {3, 8, 4, 2, 1, 8, 2},  {18, 4, 2, 4, 2, 8, 4},
                                 {6, 2, 2, 2, 2, 2, 1},  {8, 2, 4, 4, 1, 4, 8},  {18, 8, 2, 8, 2, 64, 4},
                                 {4, 2, 1, 2, 1, 8, 4},  {16, 2, 8, 2, 8, 4, 16}};

std::unique_ptr<Hierarchy> drawn_state(const Shape& shape, const model::Protocol& protocol,
                                       std::mt19937_64& draw) {
    const unsigned room = shape.sets_l2 * shape.ways_l2;
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(draw() % limit); };
    auto state = std::make_unique<Hierarchy>(machine_of(shape), protocol, 1 + std::size_t{room} * 8);
    play(*state, {1 + below(room * 8), below(40), below(60), 1 + below(6000)}, draw);
    return state;
}

/// The state that a trace leaves in cold caches.
std::unique_ptr<Hierarchy> played(const Machine& machine, const model::Protocol& protocol,
                                  const WarmTrace& trace) {
    auto made =
        std::make_unique<Hierarchy>(machine, protocol, trace.lines, model::Spares{kSpares, trace.spare_sets});
    for (const Access& access : trace.accesses) {
        made->access(access.processor, access.line, access.kind(), access.who());
    }
    return made;
}

TEST(WarmTrace, RebuildsEveryStateThatAccessesReach) {
    const auto protocol = shipped("hammer");
    std::set<std::string> seen;
    std::size_t remembered = 0;
    std::mt19937_64 draw(40);
    for (unsigned round = 0; round < 40; ++round) {
        for (const Shape& shape : kShapes) {
            const Machine machine = machine_of(shape);
            const auto state = drawn_state(shape, protocol, draw);
            const WarmTrace trace = rebuild(machine, *state);
            const auto made = played(machine, protocol, trace);
            ASSERT_EQ(difference(shape.cores, *state, *made), "");
            EXPECT_EQ(trace.assumed, 0U);
            collect(*state, seen);
            remembered += state->home().remembered().size();
        }
    }
    EXPECT_EQ(seen.size(), 18U) << "six states in each of three caches";
    EXPECT_GT(remembered, 1000U);
}

TEST(WarmTrace, NoLineIsAccessedAgainBeforeItsAccessHasEnded) {
    const auto protocol = shipped("hammer");
    std::mt19937_64 draw(41);
    for (const Shape& shape : kShapes) {
        const Machine machine = machine_of(shape);
        const auto state = drawn_state(shape, protocol, draw);
        std::map<Line, std::uint64_t> last;
        for (const Access& access : rebuild(machine, *state).accesses) {
            const auto found = last.find(access.line);
            if (found != last.end() && access.processor < shape.cores + 2) {  // the pacer hits in the end
                ASSERT_GE(access.tick, found->second + 2 * (8 + 100 + 120 + 60)) << access.line;
            }
            last[access.line] = access.tick;
        }
    }
}

TEST(WarmTrace, EndsWithHitsOfTwoLinesInTurn) {
    const auto protocol = shipped("hammer");
    const Machine machine = machine_of(kShapes[2]);
    Hierarchy state(machine, protocol, 1000);
    const auto accesses = rebuild(machine, state).accesses;
    ASSERT_GT(accesses.size(), 600U);
    for (std::size_t n = accesses.size() - 600; n < accesses.size(); ++n) {
        EXPECT_EQ(accesses[n].line, accesses[n - 2].line);
        EXPECT_NE(accesses[n].line, accesses[n - 1].line);
    }
}

TEST(WarmTrace, CompleteStateDiffersWithoutTheLastAccessOfACore) {
    const auto protocol = shipped("hammer");
    std::mt19937_64 draw(42);
    const Machine machine = machine_of(kShapes[2]);
    const auto state = drawn_state(kShapes[2], protocol, draw);
    WarmTrace trace = rebuild(machine, *state);
    const auto last = std::find_if(trace.accesses.rbegin(), trace.accesses.rend(),
                                   [&](const Access& access) { return access.processor < 4; });
    trace.accesses.erase(std::next(last).base());
    const auto made = played(machine, protocol, trace);
    EXPECT_NE(difference(4, *state, *made), "");
}

TEST(WarmTrace, MemoryAssumesSharersOfLinesThatADeviceHasRead) {
    const auto protocol = shipped("hammer");
    const Machine machine = machine_of(kShapes[2]);
    Hierarchy state(machine, protocol, 1000);
    state.access(0, 5, Kind::store, {});
    state.device_read(5);  // core 0 keeps a copy in S, and nobody owns the block
    ASSERT_EQ(state.home().remembered().size(), 0U);
    const WarmTrace trace = rebuild(machine, state);
    EXPECT_EQ(trace.assumed, 1U);
    EXPECT_EQ(state.home().remembered(), std::vector<Line>{5});
}

std::string refusal(const Machine& machine, const std::string& protocol) {
    Hierarchy state(machine, shipped(protocol), 1000);
    try {
        rebuild(machine, state);
    } catch (const model::Error& error) {
        return error.what();
    }
    return "";
}

TEST(WarmTrace, OtherProtocolsPoliciesAndShapesAreRefused) {
    Machine machine = machine_of(kShapes[2]);
    EXPECT_EQ(refusal(machine, "moesi"),
              "a warm state can be rebuilt only under the protocol hammer, not under moesi");
    machine.policy = model::Policy::plru;
    EXPECT_EQ(refusal(machine, "hammer"),
              "machine drawn: a warm state can be rebuilt only with replacement.policy = lru");
    machine = machine_of(kShapes[2]);
    machine.l2_inclusion = "inclusive";
    EXPECT_EQ(refusal(machine, "hammer"),
              "machine drawn: a warm state can be rebuilt only with l2.inclusion = exclusive");
    machine = machine_of({4, 16, 2, 16, 2, 8, 4});
    EXPECT_EQ(refusal(machine, "hammer"),
              "machine drawn: a warm state can be rebuilt only if each L1 has at least 2 sets and the L2 has "
              "at least as many sets as each L1");
    EXPECT_NE(refusal(machine_of({29, 2, 2, 2, 2, 4, 4}), "hammer"), "");
}

}  // namespace
}  // namespace s80::replay
