// SPDX-License-Identifier: GPL-2.0-or-later
// The measured regions of a program in the guest. The program marks their beginnings and ends with marker
// instructions, or the plugin's arguments name functions whose calls mark them.
#pragma once

#include "plugin/arguments.h"
#include "stream/epoch.h"

namespace s80::plugin {

/// Decides which of these marks count. A mark does not count if a region has already begun, or has already
/// ended.
class ProgramRegions {
public:
    explicit ProgramRegions(const Arguments& arguments)
        : marks_of_all_(arguments.run == 0), markers_(arguments.markers != 0), runs_(marks_of_all_) {}

    /// The program whose regions are to be measured begins or ends (markers RUN_BEGIN and RUN_END).
    void run_begins() { runs_ = true; }
    void run_ends() { runs_ = marks_of_all_; }
    /// A program marks the beginning or end of a region. `by_marker`: by a marker instruction, not by a call
    /// of a function. Returns whether the mark counts.
    bool program_marks(model::Mark mark, bool by_marker) {
        return runs_ && (!by_marker || markers_) && changes(mark);
    }
    /// A region begins or ends for any reason. Returns false if it had already begun or ended.
    bool changes(model::Mark mark) {
        const bool begins = mark == model::Mark::measure_begin;
        const bool changed = begins != inside_;
        inside_ = begins;
        return changed;
    }

private:
    /// The regions of all programs count, not only between run_begins() and run_ends().
    const bool marks_of_all_;
    const bool markers_;   ///< marks by marker instructions count
    bool runs_;            ///< regions count now
    bool inside_ = false;  ///< a region has begun and has not ended
};

}  // namespace s80::plugin
