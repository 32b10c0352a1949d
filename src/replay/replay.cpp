// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/replay.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "checkpoint/state_file.h"
#include "coherence/protocol.h"
#include "machine/machine.h"
#include "observe/snapshot.h"
#include "timing/merger.h"
#include "trace/read_ahead.h"

namespace s80::replay {

using model::Error;
using model::Machine;

namespace {

/// Number of epochs between two readings of the host's clock, to save time.
constexpr std::uint64_t kEpochsALook = 64;
constexpr std::chrono::milliseconds kProgressInterval{100};

void same(const char* what, std::uint64_t captured, std::uint64_t wanted) {
    if (captured != wanted) {
        throw Error(std::string("the capture was recorded with ") + what + " = " + std::to_string(captured) +
                    " and cannot be replayed on a machine with " + std::to_string(wanted));
    }
}

void restore(const trace::Header& header, const std::string& path, model::Hierarchy& hierarchy,
             model::TimingMerger& merger) {
    std::ofstream file(path, std::ios::binary);
    file << header.state;
    file.close();
    struct Remove {
        const std::string& path;
        ~Remove() { std::remove(path.c_str()); }
    } const remove{path};
    if (!file) {
        throw Error("cannot write " + path + ": is the disk full?");
    }
    model::load_state(path, hierarchy, merger);
}

bool same_machine(const Machine& a, const Machine& b) {
    const auto geometry = [](const Machine& m) {
        return std::tuple(m.l1i.bytes, m.l1i.ways, m.l1d.bytes, m.l1d.ways, m.l2.bytes, m.l2.ways, m.policy,
                          m.l2_inclusion, m.threads_per_core);
    };
    return geometry(a) == geometry(b);
}

/// Plays all epochs. `Source`: trace::Reader or trace::ReadAhead. `path`: file for the snapshots.
template <class Source>
void play(Source& source, const trace::Totals& totals, model::TimingMerger& merger,
          model::Hierarchy& hierarchy, const std::string& path, const Progress& progress) {
    model::SnapshotWriter snapshots(path, hierarchy);
    model::Epoch epoch(hierarchy.machine().processors);
    auto shown = std::chrono::steady_clock::now();
    for (std::uint64_t played = 0; source.next(epoch);) {
        try {
            merger.play(epoch);
        } catch (const Error& e) {
            throw Error("epoch " + std::to_string(played) + " of the capture cannot be played: " + e.what());
        }
        snapshots.write(epoch, merger, hierarchy.stats());
        if (++played % kEpochsALook != 0) {
            continue;
        }
        if (const auto now = std::chrono::steady_clock::now(); now - shown >= kProgressInterval) {
            progress(epoch.instructions - (totals.last - totals.instructions), totals.instructions);
            shown = now;
        }
    }
}

}  // namespace

Arguments Arguments::parse(int argc, char** argv) {
    Arguments a;
    const std::map<std::string_view, std::string*> known{
        {"capture", &a.capture}, {"machine", &a.machine},       {"protocol", &a.protocol},
        {"out", &a.out},         {"read_ahead", &a.read_ahead},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const auto equals = word.find('=');
        const auto it = known.find(word.substr(0, equals));
        if (it == known.end() || equals == std::string_view::npos) {
            throw Error(
                "unknown argument '" + std::string(word) +
                "'; usage: s80-replay capture=FILE machine=FILE protocol=FILE out=DIR [read_ahead=yes]");
        }
        *it->second = word.substr(equals + 1);
    }
    for (const auto& [key, value] : known) {
        if (value->empty()) {
            throw Error("the argument " + std::string(key) + "= is missing");
        }
    }
    if (a.read_ahead != "yes" && a.read_ahead != "no") {
        throw Error("read_ahead=" + a.read_ahead + ": must be yes or no");
    }
    return a;
}

void check(const trace::Header& header, const Machine& machine) {
    const Machine captured = Machine::parse(header.machine, "the machine in the capture");
    same("processors.count", header.processors, machine.processors);
    same("line_bytes", captured.line_bytes, machine.line_bytes);
    if (header.form == trace::Form::full) {
        return;
    }
    same("processors.threads_per_core", captured.threads_per_core, machine.threads_per_core);
    same("l1i.size", captured.l1i.bytes, machine.l1i.bytes);
    same("l1i.ways", captured.l1i.ways, machine.l1i.ways);
    same("l1d.size", captured.l1d.bytes, machine.l1d.bytes);
    same("l1d.ways", captured.l1d.ways, machine.l1d.ways);
}

/// A full capture of a run that began from a checkpoint contains the caches' contents at its beginning. These
/// fit only the same caches and protocol; a replay with others begins with cold caches.
void restore_if_same(const trace::Header& header, const Machine& machine, const std::string& path,
                     model::Hierarchy& hierarchy, model::TimingMerger& merger) {
    if (!header.state.empty() && header.protocol == hierarchy.protocol().name() &&
        same_machine(machine, Machine::parse(header.machine, "the machine in the capture"))) {
        restore(header, path, hierarchy, merger);
    }
}

Result replay(const Arguments& arguments, const Progress& progress) {
    const auto began = std::chrono::steady_clock::now();
    const Machine machine = Machine::load(arguments.machine);
    trace::Reader reader(arguments.capture);
    const trace::Header& header = reader.header();
    check(header, machine);
    model::Hierarchy hierarchy(machine, model::Protocol::load(arguments.protocol), header.lines);
    model::TimingMerger merger(hierarchy);
    restore_if_same(header, machine, arguments.out + "/model.state.partial", hierarchy, merger);
    const std::string path = arguments.out + "/snapshots.jsonl";
    const std::string partial = path + ".partial";
    try {
        if (arguments.read_ahead == "yes") {
            trace::ReadAhead ahead(reader);
            play(ahead, reader.totals(), merger, hierarchy, partial, progress);
        } else {
            play(reader, reader.totals(), merger, hierarchy, partial, progress);
        }
    } catch (...) {
        std::remove(partial.c_str());
        throw;
    }
    std::filesystem::rename(partial, path);
    const trace::Totals& totals = reader.totals();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    return {totals.events, totals.accesses, totals.instructions, seconds.count()};
}

}  // namespace s80::replay
