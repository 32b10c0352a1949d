// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer: any bytes as a protocol table. The loader takes it or throws model::Error, and what it takes can
// be played: no access, however wrong the protocol, does more than throw model::Error.
//
// ASCII only: toml++ 3.3 asks whether a character is white space in a way that is undefined for U+00A1 to
// U+0499 (is_non_ascii_horizontal_whitespace). As compiled for use it refuses them; test_alterations.cpp
// holds that.
#include <algorithm>

#include "fuzz/memory_file.h"
#include "memory/hierarchy.h"

namespace {

using namespace s80::model;

Machine machine(const char* inclusion) {
    Machine m;
    m.name = "fuzz";
    m.processors = 4;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = 64;
    m.l1i = m.l1d = {128, 1};
    m.l2 = {256, 2};
    m.l2_inclusion = inclusion;
    m.check("the fuzzer");
    return m;
}

/// Four cores do the four kinds of access to a few lines, in an order without pattern.
void play(const Protocol& protocol, const char* inclusion) {
    constexpr std::size_t kLines = 8;
    Hierarchy hierarchy(machine(inclusion), protocol, kLines);
    std::uint32_t order = 1;
    for (int i = 0; i < 500; ++i) {
        order = order * 1664525U + 1013904223U;
        hierarchy.access(order >> 30, (order >> 20) % kLines, static_cast<Kind>(order >> 10 & 3), Context());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (std::any_of(data, data + size, [](std::uint8_t byte) { return byte >= 0x80; })) {
        return -1;  // not for the corpus
    }
    const s80::test::MemoryFile file(data, size);
    for (const char* inclusion : {"inclusive", "exclusive", "exclusive-textbook"}) {
        try {
            play(Protocol::load(file.path()), inclusion);
        } catch (const Error&) {
            // A sentence for the user: what ought to happen.
        }
    }
    return 0;
}
