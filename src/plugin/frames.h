// SPDX-License-Identifier: GPL-2.0-or-later
// How a task has entered the kernel: what it entered by first, and what came on top of that.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "model/types.h"

namespace s80::plugin {

/// One entry of the kernel that has not been left.
struct Frame {
    model::Entry entry = model::Entry::unknown;
    std::uint16_t system_call = 0;  ///< its number, where the entry is one
    std::uint64_t stack = 0;        ///< of a soft interrupt: the stack pointer where its function began
};

class Frames {
public:
    bool empty() const { return depth_ == 0; }
    /// The innermost; not when there is none.
    const Frame& top() const { return frames_[depth_ - 1]; }
    /// The outermost ones are forgotten when there are more than the kernel can have.
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
