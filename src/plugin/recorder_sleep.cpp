// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions at which a processor gives up its time slice, or asks for the time.
#include "plugin/recorder.h"

namespace s80::plugin {

void Recorder::halted(Lane& lane) {
    if (lane.bound()) {
        windows_->sleep(lane);
        current_vcpu = nullptr;  // the next block begins a time slice
    }
}

void Recorder::paused(Lane& lane) {
    if (lane.bound()) {
        windows_->pause(lane);
        current_vcpu = nullptr;
    }
}

void Recorder::clock_read(Lane& lane) {
    if (lane.bound()) {
        windows_->read_clock(lane);
    }
}

}  // namespace s80::plugin
