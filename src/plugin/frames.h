// SPDX-License-Identifier: GPL-2.0-or-later
// How a task entered the kernel: the cause of the first entry, and of the entries nested in it, for example
// an interrupt during a system call.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/types.h"

namespace s80::plugin {

/// One entry into the kernel from which the task has not returned yet.
struct Frame {
    model::KernelEntry entry = model::KernelEntry::unknown;
    std::uint16_t system_call = 0;  ///< number of the system call; 0 if `entry` is another cause
    /// Of a soft interrupt: stack pointer at the beginning of its handler; otherwise 0.
    std::uint64_t stack = 0;
};

class Frames {
public:
    bool empty() const { return depth_ == 0; }
    /// The innermost entry into the kernel. Call it only if there is one.
    const Frame& top() const { return frames_[depth_ - 1]; }
    /// Adds an innermost entry. If the stack is full, drops the outermost entry. The kernel does not nest
    /// entries so deeply.
    void push(const Frame& frame) {
        if (depth_ == frames_.size()) {
            std::copy(frames_.begin() + 1, frames_.end(), frames_.begin());
            --depth_;
        }
        frames_[depth_++] = frame;
    }
    void pop() { depth_ -= depth_ != 0 ? 1 : 0; }
    void clear() { depth_ = 0; }

private:
    std::array<Frame, 8> frames_{};
    unsigned depth_ = 0;
};

}  // namespace s80::plugin
