// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises a polling loop: a loop whose iterations are all the same until another processor stores to a
// line that the loop loads.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::plugin {

/// Numbers that the recorder counts of a processor's execution.
struct Executed {
    std::uint64_t instructions = 0;
    std::array<std::uint64_t, model::kKinds> accesses{};
    std::array<std::uint64_t, model::kInstructionClasses> classes{};
};

/// A possible polling loop of one processor. It is one if the processor returns to the loop's first block
/// with the same registers, has stored nothing in between, has loaded at most four lines, and has read
/// neither a clock nor a device. Further iterations have the same effect, so they can be counted without
/// being executed.
class PollLoop {
public:
    /// Begins the search: the block that begins may be the first one of a loop. `registers`: QEMU's state of
    /// the processor. `executed`: up to now. `counted`: ContextCounts::since, which changes when the counts
    /// start again from 0.
    void begin(const void* registers, const Executed& executed, std::uint64_t counted) {
        many_lines_ = 0;
        open_ = true;
        move(registers, executed, counted);
    }
    /// The block that begins is taken for the loop's first block instead. Keeps the lines that were loaded
    /// since begin(), because the loop may load them again.
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
    /// Whether the processor has loaded the line since begin().
    bool loads(model::Line line) const {
        return std::find(lines_.begin(), lines_.begin() + many_lines_, line) != lines_.begin() + many_lines_;
    }
    /// Gives up: something happened that will not be the same in each iteration, for example a store.
    void discard() { open_ = false; }
    bool open() const { return open_; }
    /// Whether the processor has returned to the loop's first block with the same registers. Parameters: as
    /// of begin(), with the processor's count of instructions.
    bool returned(const void* registers, std::uint64_t instructions, std::uint64_t counted) const {
        return open_ && many_lines_ != 0 && counted == counted_ && instructions != begun_.instructions &&
               std::memcmp(registers_.data(), registers, registers_.size()) == 0;
    }
    /// What one iteration of the loop has executed, if it ends now. `executed`: up to now.
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
    /// The general registers, the program counter and the flags are in the first 176 bytes of QEMU's state of
    /// a processor (QEMU 10.0).
    static constexpr std::size_t kRegisters = 176;

    std::array<std::uint8_t, kRegisters> registers_{};
    Executed begun_;
    std::uint64_t counted_ = 0;
    std::array<model::Line, 4> lines_{};
    unsigned many_lines_ = 0;
    bool open_ = false;
};

}  // namespace s80::plugin
