// SPDX-License-Identifier: GPL-2.0-or-later
// Filtered captures lose nothing that reaches the bus or the home: while L2s and last-level cache are so
// large that neither inclusion nor a recall empties an L1, and the accesses so far apart that stalls do not
// reorder them, the placed epochs that the filter makes play to the same counts as all accesses, whatever the
// protocol.
#include <gtest/gtest.h>

#include <set>

#include "drawn.h"
#include "shipped.h"
#include "timing/merger.h"
#include "trace/filter.h"

namespace s80::reference {
namespace {

constexpr int kCases = 40;
constexpr std::size_t kAccesses = 2000;
/// Accesses that only an L1 sees differ: the filter's L1s hold less than those of a protocol may.
const std::set<std::string> kOfTheL1 = {"l1_misses", "l2_accesses", "stall_cycles"};

struct Replayed {
    Replayed(const Case& c, const model::Protocol& protocol)
        : hierarchy(model_machine(c.machine), protocol, lines(c)), merger(hierarchy) {}
    model::Hierarchy hierarchy;
    model::TimingMerger merger;
};

/// A epoch in which one processor does a few accesses: consecutive ones of the case.
std::size_t next_window(const Case& c, std::size_t from, model::Epoch& epoch) {
    const unsigned processor = c.accesses[from].processor;
    for (model::Stream& stream : epoch.streams) {
        stream.ran = stream.runs_on = false;
        stream.size = 0;
    }
    model::Stream& stream = epoch.streams[processor];
    stream.ran = stream.runs_on = true;
    stream.events.clear();
    std::size_t at = from;
    for (; at < c.accesses.size() && c.accesses[at].processor == processor; ++at) {
        stream.events.push_back(event(c.accesses[at]));
    }
    stream.size = stream.events.size();
    return at;
}

std::optional<std::string> compare(const Case& c, Replayed& full, Replayed& filtered) {
    for (const CountInfo& info : all_counts(c.machine.home(), c.machine.group.has_value())) {
        const auto stat = statistic(info.name);
        const auto one = full.hierarchy.stats().values(stat);
        const auto other = filtered.hierarchy.stats().values(stat);
        if (!kOfTheL1.contains(info.name) && !std::equal(one.begin(), one.end(), other.begin())) {
            return std::string(info.name) + ": full " + std::to_string(full.hierarchy.stats().sum(stat)) +
                   ", filtered " + std::to_string(filtered.hierarchy.stats().sum(stat));
        }
    }
    for (const Access& access : c.accesses) {
        for (unsigned core = 0; core < c.machine.cores; ++core) {
            if (full.hierarchy.caches().state(core, access.line) !=
                filtered.hierarchy.caches().state(core, access.line)) {
                return "state of line " + std::to_string(access.line) + " in core " + std::to_string(core);
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> loss(const Case& c, const model::Protocol& protocol) {
    Replayed full(c, protocol);
    Replayed filtered(c, protocol);
    trace::L1Filter filter(model_machine(c.machine));
    full.merger.observe(filter);
    model::Epoch epoch(c.machine.cores * c.machine.threads_per_core);
    for (std::size_t at = 0; at < c.accesses.size();) {
        at = next_window(c, at, epoch);
        full.merger.play(epoch);
        filtered.merger.play(filter.epoch());
    }
    return compare(c, full, filtered);
}

void expect_no_loss(const std::string& path) {
    const auto protocol = model::Protocol::load(path);
    for (const Organisation organisation : kOrganisations) {
        const auto name = protocol.name() + ", L2 " + organisation_name(organisation);
        const auto found = counterexample(name, {organisation, kAccesses, true, 0, protocol.has_llc()},
                                          kCases, [&](const Case& c) { return loss(c, protocol); });
        EXPECT_FALSE(found) << name << ": " << *found;
    }
}

TEST(Filtered, PlaysToTheSameCountsBehindTheL1s) {
    for (const auto& path : shipped_tables()) {
        expect_no_loss(path);
    }
}

/// All statistics of the last-level cache are among the compared ones.
TEST(Filtered, PlaysToTheSameCountsAtALastLevelCache) {
    unsigned played = 0;
    for (const auto& path : shipped_tables(true)) {
        if (model::Protocol::load(path).has_llc()) {
            expect_no_loss(path);
            ++played;
        }
    }
    EXPECT_GE(played, 3U);
}

}  // namespace
}  // namespace s80::reference
