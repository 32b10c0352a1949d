// SPDX-License-Identifier: GPL-2.0-or-later
// A loop of the guest that polls: it repeats itself until another processor stores to a line that it loads.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::plugin {

/// What a processor has executed, as far as the recorder counts it.
struct Executed {
    std::uint64_t instructions = 0;
    std::array<std::uint64_t, model::kKinds> accesses{};
    std::array<std::uint64_t, model::kInstructionClasses> classes{};
};

/// A loop repeats itself if it returns to a block with the same registers, has stored nothing, and has read
/// few lines and no clock. Its next iterations can be counted without being executed.
class PollLoop {
public:
    /// A block that may be the first one of a loop begins. `registers`: QEMU's state of the processor.
    /// `executed`: up to now. `counted`: a number that changes when the counts start again from 0.
    void begin(const void* registers, const Executed& executed, std::uint64_t counted) {
        many_lines_ = 0;
        open_ = true;
        move(registers, executed, counted);
    }
    /// Takes this block for the first one instead. Keeps the lines that were loaded since begin(): the loop
    /// may load them.
    void move(const void* registers, const Executed& executed, std::uint64_t counted) {
        std::memcpy(registers_.data(), registers, registers_.size());
        begun_ = executed;
        counted_ = counted;
    }
    void load(model::Line line) {
        if (!open_ || loads(line)) {
            return;
        }
        if (many_lines_ == lines_.size()) {
            discard();
        } else {
            lines_[many_lines_++] = line;
        }
    }
    /// Whether the loop has loaded the line.
    bool loads(model::Line line) const {
        return std::find(lines_.begin(), lines_.begin() + many_lines_, line) != lines_.begin() + many_lines_;
    }
    /// The code is not a loop that can be counted: something happened that will not repeat itself.
    void discard() { open_ = false; }
    bool open() const { return open_; }
    /// Whether the processor is at the first block again, with the same registers.
    bool returned(const void* registers, std::uint64_t instructions, std::uint64_t counted) const {
        return open_ && many_lines_ != 0 && counted == counted_ && instructions != begun_.instructions &&
               std::memcmp(registers_.data(), registers, registers_.size()) == 0;
    }
    /// What the iteration that ends now has executed.
    Executed iteration(const Executed& executed) const {
        Executed one;
        one.instructions = executed.instructions - begun_.instructions;
        for (std::size_t i = 0; i < one.accesses.size(); ++i) {
            one.accesses[i] = executed.accesses[i] - begun_.accesses[i];
        }
        for (std::size_t i = 0; i < one.classes.size(); ++i) {
            one.classes[i] = executed.classes[i] - begun_.classes[i];
        }
        return one;
    }

private:
    /// The general registers, the program counter and the flags are at the beginning of the state
    /// (QEMU 10.0).
    static constexpr std::size_t kRegisters = 176;

    std::array<std::uint8_t, kRegisters> registers_{};
    Executed begun_;
    std::uint64_t counted_ = 0;
    std::array<model::Line, 4> lines_{};
    unsigned many_lines_ = 0;
    bool open_ = false;
};

}  // namespace s80::plugin
