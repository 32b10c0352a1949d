// SPDX-License-Identifier: GPL-2.0-or-later
// The regions of a program, which the program or the plugin's arguments name.
#pragma once

#include "plugin/arguments.h"
#include "stream/epoch.h"

namespace s80::plugin {

/// Says which of the marks of a program count. A region that has begun does not begin again.
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
    bool runs_;                ///< the program whose regions count
    bool inside_ = false;      ///< a region
};

}  // namespace s80::plugin
