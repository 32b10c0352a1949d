// SPDX-License-Identifier: GPL-2.0-or-later
// Replays a capture on a machine with a protocol: plays the recorded streams without the guest.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "memory/hierarchy.h"
#include "timing/merger.h"
#include "trace/reader.h"

namespace s80::replay {

/// Arguments of s80-replay: capture=FILE machine=FILE protocol=FILE out=DIR [read_ahead=yes].
struct Arguments {
    std::string capture;
    std::string machine;
    std::string protocol;
    std::string out;
    /// yes: a thread of its own reads the capture; no: the timing merger's thread.
    std::string read_ahead = "no";

    /// Reads the command line. Throws model::Error that names the argument.
    static Arguments parse(int argc, char** argv);
};

/// Throws model::Error if the capture cannot be replayed on this machine. A full capture needs the same line
/// size and number of processors. An L1-filtered capture also needs the same L1s and threads per core.
void check(const trace::Header& header, const model::Machine& machine);

/// Fills the caches with the state that the capture contains, if it is of a machine with the same caches and
/// of the same protocol. Otherwise the caches stay cold. `path`: name for a temporary file. Throws
/// model::Error.
void restore_if_same(const trace::Header& header, const model::Machine& machine, const std::string& path,
                     model::Hierarchy& hierarchy, model::TimingMerger& merger);

struct Result {
    std::uint64_t events = 0;
    std::uint64_t accesses = 0;
    std::uint64_t instructions = 0;
    double seconds = 0;
};

/// Called about ten times per second. `played`: instructions played so far. `total`: instructions of the
/// capture.
using Progress = std::function<void(std::uint64_t played, std::uint64_t total)>;

/// Replays the capture and writes DIR/snapshots.jsonl, which has another name until it is complete. Throws
/// model::Error.
Result replay(const Arguments& arguments, const Progress& progress);

}  // namespace s80::replay
