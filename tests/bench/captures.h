// SPDX-License-Identifier: GPL-2.0-or-later
// The captures that are benchmarked.
#pragma once
#include <optional>
#include <string>

#include "memory/hierarchy.h"
#include "timing/merger.h"
#include "trace/read_ahead.h"
#include "trace/reader.h"

namespace s80::bench {

/// S80_BENCH_FULL and S80_BENCH_FILTERED name captures; where they do not, a synthetic load is captured into
/// a temporary folder.
struct Captures {
    std::string full;
    std::string filtered;
};
const Captures& captures();

/// A capture that is being played, by the protocol of the live run, on the machine that it was made with.
class Replay {
public:
    /// read_ahead: on a thread of its own.
    explicit Replay(const std::string& path, bool read_ahead = false);

    /// Plays some epochs; false where the capture ends.
    bool play(unsigned epochs);

    const trace::Reader& reader() const { return reader_; }
    model::Hierarchy& hierarchy() { return hierarchy_; }
    model::TimingMerger& merger() { return merger_; }
    /// Events and instructions of what was played last.
    std::uint64_t events() const { return events_; }
    std::uint64_t instructions() const { return instructions_; }

private:
    trace::Reader reader_;
    model::Hierarchy hierarchy_;
    model::TimingMerger merger_;
    model::Epoch epoch_;
    std::uint64_t events_ = 0;
    std::uint64_t instructions_ = 0;
    std::uint64_t total_ = 0;
    std::optional<trace::ReadAhead> ahead_;
};

}  // namespace s80::bench
