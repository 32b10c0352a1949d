// SPDX-License-Identifier: GPL-2.0-or-later
// A machine of three cores with one-line L1s and L2s of 2 sets x 2 ways: every access that leaves the
// last line reaches the L2, and conflicts are easy to make.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "memory/hierarchy.h"

namespace s80::model {

inline constexpr unsigned kL2Hit = 8;
inline constexpr unsigned kMemory = 100;
inline constexpr unsigned kCacheToCache = 120;
inline constexpr unsigned kUpgrade = 60;

inline Machine small_machine() {
    Machine m;
    m.name = "small";
    m.processors = 3;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = 128;
    m.l1i = {128, 1};
    m.l1d = {128, 1};
    m.l2 = {512, 2};
    m.latency = {kL2Hit, kMemory, kCacheToCache, kUpgrade};
    m.check("the test's machine");
    return m;
}

inline Protocol shipped(const std::string& name) {
    return Protocol::load(std::string(S80_CONFIGS) + "/protocols/" + name + ".toml");
}
inline Protocol moesi() {
    return shipped("moesi");
}

class SmallMachine : public ::testing::Test {
protected:
    explicit SmallMachine(const Machine& machine = small_machine(), const Protocol& protocol = moesi())
        : h(machine, protocol, 1024) {}

    static constexpr Line X = 4;   ///< the line under test
    static constexpr Line Y = 5;   ///< of the other set: pushes X out of an L1 only
    static constexpr Line X2 = 6;  ///< of X's set
    static constexpr Line X3 = 8;  ///< of X's set

    Hierarchy h;
    Context user{Privilege::user, ProcessClass::session};

    unsigned load(unsigned core, Line line) { return h.access(core, line, Kind::load, user).stall; }
    unsigned store(unsigned core, Line line) { return h.access(core, line, Kind::store, user).stall; }
    unsigned fetch(unsigned core, Line line) { return h.access(core, line, Kind::ifetch, user).stall; }
    std::string state(unsigned core, Line line = X) {
        return h.protocol().state(h.caches().state(core, line)).name;
    }
    std::uint64_t sum(Stat s) { return h.stats().sum(s); }
    std::uint64_t source(unsigned core, Kind kind, Source s) { return h.stats().source(core, user, kind, s); }

    /// Brings X in core 0 into a state; the L1D of core 0 then holds Y.
    void given(char name) {
        switch (name) {
            case 'M': store(0, X); break;
            case 'O':
                store(0, X);
                load(1, X);
                break;
            case 'E': load(0, X); break;
            case 'S':
                load(1, X);
                load(0, X);
                break;
            default: break;
        }
        load(0, Y);
        ASSERT_EQ(state(0), std::string(1, name));
        for (auto& v : h.stats().all()) {
            v = 0;
        }
    }
};

}  // namespace s80::model
