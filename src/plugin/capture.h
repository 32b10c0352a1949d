// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the run's captures on the thread of the timing merger (`TimingMerger`).
#pragma once
#include <optional>

#include "memory/hierarchy.h"
#include "plugin/arguments.h"
#include "stream/epoch.h"
#include "timing/merger.h"
#include "trace/filter.h"
#include "trace/writer.h"

namespace s80::plugin {

/// Owns the captures that the arguments name. A capture begins with the first recorded epoch. It ends with
/// the measured region (with the first region of a program that has several), or with the run if there is no
/// region. Captures do not change what the timing merger plays.
class Capture {
public:
    /// Throws model::Error if a file cannot be created.
    Capture(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol,
            std::uint64_t lines);

    /// The observer for the timing merger; may be null.
    model::Observer* observer() { return filter_ ? &*filter_ : nullptr; }
    /// Takes an epoch that was just played. Throws model::Error if a file cannot be written.
    void write(const model::Epoch& epoch);

private:
    model::Mark last_;  ///< the mark of the last epoch in the captures
    std::optional<trace::Writer> full_;
    std::optional<trace::Writer> filtered_;
    std::optional<trace::L1Filter> filter_;
};

}  // namespace s80::plugin
