// SPDX-License-Identifier: GPL-2.0-or-later
// What the model counts for one core's loads and stores, to be compared with pycachesim:
//   reference-replacement-counts PROTOCOL.toml L1_SETS L1_WAYS L2_SETS L2_WAYS < accesses
// One access a line, "load LINE" or "store LINE" (a line's number). Prints one JSON object.
#include <iostream>
#include <string>

#include "memory/hierarchy.h"

namespace {

using namespace s80::model;

constexpr unsigned kLineBytes = 64;
constexpr std::size_t kLines = 1 << 16;

CacheGeometry geometry(const char* sets, const char* ways) {
    const auto w = static_cast<unsigned>(std::stoul(ways));
    return {std::stoull(sets) * w * kLineBytes, w};
}

void play(Hierarchy& hierarchy) {
    std::string word;
    for (Line line = 0; std::cin >> word >> line;) {
        if ((word != "load" && word != "store") || line >= kLines) {
            throw Error("an access is load or store and a line below " + std::to_string(kLines) + ", not " +
                        word);
        }
        hierarchy.access(0, line, word == "store" ? Kind::store : Kind::load, Context());
    }
    if (!std::cin.eof()) {
        throw Error("an access is not of the form 'load LINE' or 'store LINE'");
    }
}

void print(const Statistics& stats) {
    const auto l1_misses = stats.sum(Stat::l1_misses);
    const auto l2_misses = stats.sum(Stat::l2_misses);
    std::cout << "{\"l1_misses\":" << l1_misses << ",\"l2_hits\":" << l1_misses - l2_misses
              << ",\"l2_misses\":" << l2_misses << ",\"l2_evictions\":" << stats.sum(Stat::l2_evictions)
              << ",\"l2_writebacks\":" << stats.sum(Stat::l2_writebacks) << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::cerr << "usage: reference-replacement-counts PROTOCOL.toml L1_SETS L1_WAYS L2_SETS L2_WAYS < "
                     "accesses\n";
        return 2;
    }
    try {
        Machine machine;
        machine.name = "one core";
        machine.processors = 1;
        machine.clock_hz = 1'000'000'000;
        machine.line_bytes = kLineBytes;
        machine.l1i = machine.l1d = geometry(argv[2], argv[3]);
        machine.l2 = geometry(argv[4], argv[5]);
        machine.check("the command line");
        Hierarchy hierarchy(machine, Protocol::load(argv[1]), kLines);
        play(hierarchy);
        print(hierarchy.stats());
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "reference-replacement-counts: " << error.what() << '\n';
        return 1;
    }
}
