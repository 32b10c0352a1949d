// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a few epochs in temporary files.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "model/temporary_file.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace s80::test {

inline const char* const kMachine = R"(
name = "tiny"
line_bytes = 128
[processors]
count = 3
threads_per_core = 1
clock_hz = 1000000000
[l1i]
size = 512
ways = 2
[l1d]
size = 512
ways = 2
[l2]
size = 4096
ways = 4
inclusion = "inclusive"
[replacement]
policy = "lru"
[latency]
l2_hit = 8
memory = 100
cache = 120
upgrade = 60
[clock]
base_cpi = 1.0
quantum_cycles = 200
filter_instructions = 200
epoch_cycles = 20000
)";

inline trace::Header header_for(bool placed, unsigned processors = 3, std::uint64_t lines = 64) {
    trace::Header header;
    header.form = placed ? trace::Form::filtered : trace::Form::full;
    header.processors = processors;
    header.lines = lines;
    header.machine = kMachine;
    header.protocol = "moesi";
    header.origin = R"({"experiment":"test"})";
    return header;
}

inline void write_capture(const std::string& path, const trace::Header& header,
                          const std::vector<model::Epoch>& epochs) {
    trace::Writer writer(path, header);
    for (const model::Epoch& epoch : epochs) {
        writer.write(epoch);
    }
    writer.close();
}

inline std::vector<model::Epoch> read_capture(const std::string& path) {
    trace::Reader reader(path);
    std::vector<model::Epoch> epochs;
    model::Epoch epoch(reader.header().processors);
    while (reader.next(epoch)) {
        epochs.push_back(epoch);
    }
    return epochs;
}

/// What a call throws, or "" when it does not.
inline std::string error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const model::Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace s80::test
