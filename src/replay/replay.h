// SPDX-License-Identifier: GPL-2.0-or-later
// Plays a capture through a machine and a protocol, without the guest.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "model/hierarchy.h"
#include "trace/reader.h"

namespace s80::replay {

/// `s80-replay capture=FILE machine=FILE protocol=FILE out=DIR [read_ahead=yes] [order=FILE]`
struct Arguments {
    std::string capture;
    std::string machine;
    std::string protocol;
    std::string out;
    std::string read_ahead = "no";  ///< or "yes": on a thread of its own
    std::string order;              ///< file for the order inversions; empty: they are not counted

    /// Throws model::Error naming the argument.
    static Arguments parse(int argc, char** argv);
};

/// Throws model::Error when the capture cannot be played on the machine: a filtered one holds for the L1s,
/// the line size and the processors that it was filtered for, a full one for the line size and the processor
/// count.
void check(const trace::Header& header, const model::Machine& machine);

struct Result {
    std::uint64_t events = 0;
    std::uint64_t accesses = 0;
    std::uint64_t instructions = 0;
    double seconds = 0;
};

/// Told of the instructions played, about ten times a second.
using Progress = std::function<void(std::uint64_t played, std::uint64_t total)>;

/// Writes DIR/snapshots.jsonl (under another name until it is whole). Throws model::Error.
Result replay(const Arguments& arguments, const Progress& progress);

}  // namespace s80::replay
