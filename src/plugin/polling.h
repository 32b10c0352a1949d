// SPDX-License-Identifier: GPL-2.0-or-later
// Detects processors that poll, that is, that load a few lines again and again until another processor stores
// there.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/types.h"

namespace s80::plugin {

/// What a processor loaded in its last filter intervals. A processor that loaded the same few lines in
/// several successive intervals, and stored nothing, probably polls them. Within an interval only the first
/// load of a line is recorded, so an interval is judged as a whole.
class Polling {
public:
    static constexpr unsigned kMostLines = 4;
    static constexpr unsigned kIntervals = 3;
    /// Intervals of fewer instructions are joined, because one iteration of a loop may be longer.
    static constexpr std::uint64_t kShortest = 200;

    void load(model::Line line) {
        if (count_ <= kMostLines) {
            add(line);
        }
    }
    void store() {
        count_ = kMostLines + 1;
        intervals_ = 0;
    }
    /// A filter interval begins at this count of the processor's instructions.
    void begin_interval(std::uint64_t instructions) {
        if (instructions - began_ < kShortest) {
            return;
        }
        began_ = instructions;
        const bool few = count_ != 0 && count_ <= kMostLines;
        const bool same = few && count_ == polled_count_;  // add() reset intervals_ if a line is new
        intervals_ = few ? (same ? intervals_ + 1 : 1) : 0;
        polled_ = lines_;
        polled_count_ = few ? count_ : 0;
        count_ = 0;
    }
    /// Whether the last interval had few lines and no store.
    bool may_poll() const { return polled_count_ != 0; }
    bool polls() const { return intervals_ >= kIntervals; }
    bool polls(model::Line line) const { return polls() && contains(polled_, polled_count_, line); }

private:
    using Lines = std::array<model::Line, kMostLines>;

    static bool contains(const Lines& lines, unsigned count, model::Line line) {
        return std::find(lines.begin(), lines.begin() + count, line) != lines.begin() + count;
    }
    void add(model::Line line) {
        if (contains(lines_, count_, line)) {
            return;
        }
        if (!contains(polled_, polled_count_, line)) {
            intervals_ = 0;
        }
        if (count_ < kMostLines) {
            lines_[count_] = line;
        }
        ++count_;
    }

    Lines lines_{};       ///< loaded in this interval
    unsigned count_ = 0;  ///< number of these; above kMostLines: too many, or the processor stored
    Lines polled_{};      ///< loaded in the last interval
    unsigned polled_count_ = 0;
    unsigned intervals_ = 0;  ///< successive ones with the same lines
    std::uint64_t began_ = 0;
};

}  // namespace s80::plugin
