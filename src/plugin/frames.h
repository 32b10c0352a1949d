// SPDX-License-Identifier: GPL-2.0-or-later
// How a task entered the kernel: the first kernel entry cause, and those nested in it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/types.h"

namespace s80::plugin {

/// One entry into the kernel from which the task has not returned yet.
struct Frame {
    model::KernelEntry entry = model::KernelEntry::unknown;
    std::uint16_t system_call = 0;  ///< number of the system call, if the entry is one
    std::uint64_t stack = 0;        ///< soft interrupts: stack pointer at the begin of the handler
};

class Frames {
public:
    bool empty() const { return depth_ == 0; }
    /// The innermost entry. There must be one.
    const Frame& top() const { return frames_[depth_ - 1]; }
    /// Adds the innermost entry. Drops the outermost ones if there are more than the kernel can nest.
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
