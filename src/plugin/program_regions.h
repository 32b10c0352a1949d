// SPDX-License-Identifier: GPL-2.0-or-later
// The measured regions of a program. The program marks them, or the plugin's arguments name functions.
#pragma once

#include "plugin/arguments.h"
#include "stream/epoch.h"

namespace s80::plugin {

/// Decides which marks of programs count. A mark does not count if the region has already begun, or already
/// ended.
class ProgramRegions {
public:
    explicit ProgramRegions(const Arguments& arguments)
        : marks_of_all_(arguments.run == 0), markers_(arguments.markers != 0), runs_(marks_of_all_) {}

    /// The program whose regions count begins or ends.
    void run_begins() { runs_ = true; }
    void run_ends() { runs_ = marks_of_all_; }
    /// A region begins or ends where a program executes a marker, or enters a function. Returns whether the
    /// mark counts.
    bool program_marks(model::Mark mark, bool by_marker) {
        return runs_ && (!by_marker || markers_) && changes(mark);
    }
    /// A region begins or ends. Returns whether it had not begun or ended before.
    bool changes(model::Mark mark) {
        const bool begins = mark == model::Mark::measure_begin;
        const bool changed = begins != inside_;
        inside_ = begins;
        return changed;
    }

private:
    const bool marks_of_all_;  ///< the regions of all programs count
    const bool markers_;       ///< a program's own markers count
    bool runs_;                ///< whether the program whose regions count is running
    bool inside_ = false;      ///< whether a region has begun and not ended
};

}  // namespace s80::plugin
