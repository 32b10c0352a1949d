// SPDX-License-Identifier: GPL-2.0-or-later
// Replays a capture through a machine and a protocol, without the guest.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "memory/hierarchy.h"
#include "timing/merger.h"
#include "trace/reader.h"

namespace s80::replay {

/// `s80-replay capture=FILE machine=FILE protocol=FILE out=DIR [read_ahead=yes]`
struct Arguments {
    std::string capture;
    std::string machine;
    std::string protocol;
    std::string out;
    std::string read_ahead = "no";  ///< or "yes": on a thread of its own

    /// Throws model::Error that names the argument.
    static Arguments parse(int argc, char** argv);
};

/// Throws model::Error if the capture cannot be replayed on the machine. A filtered capture needs the L1s,
/// the line size and the processors for which it was filtered; a full one needs the line size and the number
/// of processors.
void check(const trace::Header& header, const model::Machine& machine);

/// Fills the caches with the state at the beginning of the capture, if it has one, and it is of this machine
/// and protocol; otherwise they stay cold. `path` names a temporary file. Throws model::Error.
void restore_if_same(const trace::Header& header, const model::Machine& machine, const std::string& path,
                     model::Hierarchy& hierarchy, model::TimingMerger& merger);

struct Result {
    std::uint64_t events = 0;
    std::uint64_t accesses = 0;
    std::uint64_t instructions = 0;
    double seconds = 0;
};

/// Called about ten times per second with the instructions played.
using Progress = std::function<void(std::uint64_t played, std::uint64_t total)>;

/// Writes DIR/snapshots.jsonl (under another name until it is complete). Throws model::Error.
Result replay(const Arguments& arguments, const Progress& progress);

}  // namespace s80::replay
