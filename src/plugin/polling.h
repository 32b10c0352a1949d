// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether a processor polls, that is, loads the same few lines again and again until another
// processor stores to one of them.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/types.h"

namespace s80::plugin {

/// Judges one processor by the lines that it loaded in its last filter intervals. It probably polls if it
/// loaded the same few lines in several successive intervals and stored nothing. Within an interval only the
/// first load of a line is recorded, so intervals are compared as a whole.
class Polling {
public:
    static constexpr unsigned kMostLines = 4;
    static constexpr unsigned kIntervals = 3;
    /// Instructions. Filter intervals that are shorter are joined, because one iteration of a loop may be
    /// longer than they are.
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
    /// A new filter interval begins at this value of Vcpu::instructions.
    void begin_interval(std::uint64_t instructions) {
        if (instructions - began_ < kShortest) {
            return;
        }
        began_ = instructions;
        const bool few = count_ != 0 && count_ <= kMostLines;
        // A new line has already set intervals_ to 0 in add().
        const bool same = few && count_ == polled_count_;
        intervals_ = few ? (same ? intervals_ + 1 : 1) : 0;
        polled_ = lines_;
        polled_count_ = few ? count_ : 0;
        count_ = 0;
    }
    /// Whether the processor loaded few lines and stored nothing in the last interval.
    bool may_poll() const { return polled_count_ != 0; }
    /// Whether the processor loaded the same few lines in enough successive intervals, without a store.
    bool polls() const { return intervals_ >= kIntervals; }
    /// The same, and `line` is one of these lines.
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

    Lines lines_{};  ///< lines that were loaded in this interval
    /// Number of lines in lines_; above kMostLines: there were more, or the processor stored.
    unsigned count_ = 0;
    Lines polled_{};  ///< lines that were loaded in the last interval
    unsigned polled_count_ = 0;
    unsigned intervals_ = 0;  ///< number of successive intervals with the same lines
    std::uint64_t began_ = 0;
};

}  // namespace s80::plugin
