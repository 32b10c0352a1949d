// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer: any bytes as a capture. The reader gives epochs or throws model::Error, and the epochs that it
// gives can be played on a machine with the capture's processors and memory.
#include <cstring>

#include "fuzz/capture_blocks.h"
#include "fuzz/memory_file.h"
#include "timing/merger.h"
#include "trace/reader.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace s80;

constexpr std::uint64_t kMostLines = 1 << 20;  ///< the model takes four bytes a line

model::Machine machine(unsigned processors) {
    model::Machine m;
    m.name = "fuzz";
    m.processors = processors;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = 64;
    m.l1i = m.l1d = {256, 2};  // a placed epoch may name others
    m.l2 = {4096, 4};
    m.check("the fuzzer");
    return m;
}

void read(const std::string& path) {
    static const auto protocol = model::Protocol::load(S80_PROTOCOLS "/moesi.toml");
    trace::Reader reader(path);
    const trace::Header& header = reader.header();
    model::Epoch epoch(header.processors);
    if (header.lines > kMostLines) {
        while (reader.next(epoch)) {
        }
        return;
    }
    model::Hierarchy hierarchy(machine(header.processors), protocol, header.lines);
    model::TimingMerger merger(hierarchy);
    while (reader.next(epoch)) {
        merger.play(epoch);
    }
}

/// One of the values that a mutation should not have to find by chance.
void mutate_header(trace::BlockHeader& header, unsigned choice, unsigned seed) {
    switch (choice) {
        case 0: header.epochs = seed % 5; break;
        case 1: header.first_epoch = seed % 5; break;
        case 2: header.type = trace::BlockType::state; break;
        case 3: header.type = trace::BlockType::epochs; break;
        default: break;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const test::MemoryFile file(data, size);
    try {
        read(file.path());
    } catch (const model::Error&) {
        // A sentence for the user: what ought to happen.
    }
    return 0;
}

/// Mostly beneath compression and sums, which a blind change would only break.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    auto capture = test::take_apart(data, size);
    if (!capture || capture->blocks.empty() || seed % 16 == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    seed /= 16;
    test::CaptureBlock& block = capture->blocks[seed % capture->blocks.size()];
    seed /= static_cast<unsigned>(capture->blocks.size());
    if (seed % 8 == 0) {
        mutate_header(block.header, seed / 8 % 4, seed / 32);
    } else {
        const std::size_t old = block.contents.size();
        block.contents.resize(old + 64);
        block.contents.resize(LLVMFuzzerMutate(block.contents.data(), old, block.contents.size()));
    }
    const trace::Bytes changed = test::put_together(*capture);
    if (changed.size() > most) {
        return LLVMFuzzerMutate(data, size, most);
    }
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}
