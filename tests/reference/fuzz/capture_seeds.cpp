// SPDX-License-Identifier: GPL-2.0-or-later
// Writes small captures from which the fuzzer of the capture reader starts: fuzz-capture-seeds FOLDER
#include <cstddef>
#include <fstream>
#include <iostream>
#include <vector>

#include "trace/writer.h"

namespace {

using namespace s80;

constexpr unsigned kProcessors = 2;

/// Two processors with every kind of event. The second sleeps until the first wakes it; then they store to
/// one line in turn.
model::Epoch epoch(bool placed, bool last) {
    model::Epoch w(kProcessors);
    w.placed = placed;
    w.signals = 1;
    w.idle_before_ns = last ? 1000 : 0;
    w.mark = last ? model::Mark::measure_end : model::Mark::none;
    w.index = last ? 1 : 0;
    w.instructions = last ? 2400 : 1200;
    const auto add = [&](unsigned processor, model::Op op, model::Line line, std::uint16_t delta,
                         unsigned way, bool awaited = false) {
        model::Event event{line, delta, awaited, op, static_cast<std::uint8_t>(placed ? way : 0), {}};
        event.context = model::Context(model::Privilege::kernel, model::ProcessClass::session);
        w.streams[processor].events.push_back(event);
        w.streams[processor].size += 1;
    };
    add(0, model::Op::ifetch, 100, 3, 0);
    add(0, model::Op::load, 7, 2, 1);
    add(0, model::Op::store, 40'000, 300, 0, true);
    add(0, model::Op::signal, 0, 1, 0);
    add(0, model::Op::pass, 0, 30'000, 0, true);
    add(0, model::Op::after, model::Edge{1, 0}.word(), 2, 0);
    add(0, model::Op::store, 7, 0, 1);
    add(1, model::Op::wait, 0, 4, 0);
    add(1, model::Op::walk, 8, 1, 2);
    add(1, model::Op::after, model::Edge{0, 1}.word(), 1, 0);
    add(1, model::Op::store, 7, 0, 1, true);
    for (model::Stream& stream : w.streams) {
        stream.ran = stream.runs_on = true;
        stream.tail = 5;
        stream.use(model::Context(3));
        stream.instructions[3] = 600;
        stream.accesses[3] = {1, 1, 1, 1};
        stream.classes[3][0] = 600;
    }
    return w;
}

/// The first processor runs without an event.
model::Epoch without_events() {
    model::Epoch w = epoch(true, true);
    w.signals = 0;
    w.streams[0].size = 0;
    w.streams[1].ran = false;
    w.streams[1].size = 0;
    return w;
}

void write(const std::string& path, trace::Form form, const std::string& state,
           const std::vector<model::Epoch>& epochs) {
    trace::Header header;
    header.form = form;
    header.processors = kProcessors;
    header.lines = 1 << 16;
    header.machine = "name = \"seed\"\n";
    header.protocol = "moesi";
    header.origin = "{}";
    header.state = state;
    trace::Writer writer(path, header);
    for (const model::Epoch& w : epochs) {
        writer.write(w);
    }
    writer.close();
}

/// As if an earlier version of the format had been written.
void make_old(const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::uint32_t version = 1;
    file.seekp(offsetof(trace::Preamble, version));
    file.write(reinterpret_cast<const char*>(&version), sizeof version);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: fuzz-capture-seeds FOLDER\n";
        return 2;
    }
    try {
        const std::string folder = argv[1];
        const std::vector full{epoch(false, false), epoch(false, true)};
        const std::vector filtered{epoch(true, false), epoch(true, true)};
        write(folder + "/full.s80c", trace::Form::full, "", full);
        write(folder + "/full-with-state.s80c", trace::Form::full, "state", full);
        write(folder + "/filtered.s80c", trace::Form::filtered, "", filtered);
        write(folder + "/filtered-without-events.s80c", trace::Form::filtered, "", {without_events()});
        write(folder + "/old.s80c", trace::Form::full, "", full);
        make_old(folder + "/old.s80c");
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "fuzz-capture-seeds: " << error.what() << '\n';
        return 1;
    }
}
