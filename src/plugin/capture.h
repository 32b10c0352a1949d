// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the run's captures: files with the recorded streams, which s80-replay can play again. The thread of
// the timing merger (`TimingMerger`) calls it.
#pragma once
#include <optional>

#include "memory/hierarchy.h"
#include "plugin/arguments.h"
#include "stream/epoch.h"
#include "timing/merger.h"
#include "trace/filter.h"
#include "trace/writer.h"

namespace s80::plugin {

/// Owns the capture files that the plugin's arguments name. The captures begin with the first recorded epoch.
/// They end with the measured region, or with the run if the run has none. If a program has
/// several regions, they end with the first. Captures do not change what the timing merger plays.
class Capture {
public:
    /// `lines`: number of lines of the guest's memory. Throws model::Error if a file cannot be created.
    Capture(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol,
            std::uint64_t lines);

    /// The filter of the L1-filtered capture, which must observe the timing merger. Null if no filtered
    /// capture is written.
    model::Observer* observer() { return filter_ ? &*filter_ : nullptr; }
    /// Appends an epoch that the timing merger has just played. Throws model::Error if a file cannot be
    /// written.
    void write(const model::Epoch& epoch);

private:
    model::Mark last_;  ///< the captures end with the epoch that has this mark
    std::optional<trace::Writer> full_;
    std::optional<trace::Writer> filtered_;
    std::optional<trace::L1Filter> filter_;
};

}  // namespace s80::plugin
