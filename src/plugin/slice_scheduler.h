// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler of time slices: which processor executes, and until when (docs/background/clock.md).
#pragma once
#include <cstdint>
#include <vector>

#include "base/core_set.h"
#include "machine/machine.h"
#include "plugin/conflicts.h"
#include "plugin/contended_blocks.h"
#include "plugin/epoch_writer.h"
#include "plugin/expected_time.h"
#include "plugin/lane.h"
#include "plugin/round.h"

namespace s80::plugin {

/// Owns the running time slice, the processors that contend for lines, those that wait (asleep, or parked in
/// a loop that polls), and QEMU's round. QEMU runs the processors in turn. This class has QEMU skip a
/// processor that has used up its share or is ahead of another contender, and ends time slices early.
///
/// Windows calls it, and ends epochs where none has instructions left. Times are expected ones.
class SliceScheduler {
public:
    /// `sleeping`: processors that sleep, in a restored guest. The references must outlive this object.
    SliceScheduler(const model::Machine& machine, const Lanes& lanes, Round& round, EpochWriter& writer,
                   ExpectedTime& time, model::CoreSet sleeping);

    // --- time slices ---
    /// QEMU begins a time slice of `next`, which has instructions left. Returns false if another contender
    /// comes first: then QEMU must skip `next`.
    bool begin(Lane& next);
    /// The running time slice ends, if there is one. QEMU may have ended it.
    void end();
    /// Whether the running processor's time slice must end before this block, the one with `Lane::block_id`.
    bool over(const Lane& lane) const {
        return lane.slice.over || lane.instructions >= lane.share.end() ||
               lane.instructions >= lane.slice.end || writer_.full() ||
               (lane.instructions >= lane.slice.turn_end && ahead(lane));
    }
    const Lane* running() const { return running_; }
    /// Instructions of `lane`, which is the running processor, in its time slice.
    std::uint64_t ran(const Lane& lane) const { return lane.instructions - slice_began_; }
    /// Whether no processor that is awake has instructions left.
    bool used_up() const;
    /// See Windows::bound_slices.
    void bound_slices(std::uint64_t instructions) { longest_slice_ = instructions; }

    // --- contention ---
    /// `lane` has recorded an access.
    static void note_access(Lane& lane, model::Line line, model::Kind kind) {
        if (kind == model::Kind::store) {
            lane.slice.stored = true;
            lane.polls.recent.store();
            lane.polls.loop.discard();
        } else if (kind == model::Kind::load) {
            lane.polls.recent.load(line);
            lane.polls.loop.load(line);
        }
    }
    /// The access was to a line for which processors contend. The time slice may end, so that the
    /// processor stalls, or another one takes the line.
    void contend(Lane& lane, const Conflicts::Found& found);
    /// At this time another processor stores to a line that these processors have loaded.
    void stored(model::CoreSet loaded, model::Line line, std::int64_t time);

    // --- waiting ---
    /// See Windows. The caller ends the epoch if all_sleep().
    void sleep(Lane& lane);
    bool all_sleep() const;
    model::CoreSet sleeping() const { return sleeping_; }
    void wake(Lane& lane);
    void interrupt(Lane& lane, Lane& target);
    void interrupt_all(Lane& lane);
    /// The polls of the loop that `lane` has just executed once are counted from here on.
    static void park(Lane& lane);
    /// The epoch ends: processors that are still parked have polled as long as the others have executed.
    void repeat_to_end();

    // --- QEMU's round ---
    /// QEMU skips `next`. One of the processors that are skipped stays in QEMU's round: where it is skipped
    /// again and again, QEMU runs nobody else.
    void skip(const Lane& next);
    /// Before `next`, which has nothing left, is skipped. Returns whether so many were skipped that QEMU does
    /// not run a processor that has instructions left: it sleeps, but not by HLT.
    bool skipped_too_often() { return ++skipped_ > 2 * lanes_.size(); }
    /// All take part in QEMU's round again.
    void take_in_all();
    /// Those take part again that may execute now.
    void take_in_whose_turn_it_is();

    void begin_epoch();

private:
    /// The interrupt of this epoch that wakes a processor.
    struct Wake {
        std::int64_t signal = -1;  ///< its number; -1: none
        std::int64_t time = 0;     ///< when it was sent
    };

    bool ahead(const Lane& lane) const {
        const ContendedBlocks::Kind kind = contended_blocks_.find(lane.block_id, writer_.number());
        return kind == ContendedBlocks::Kind::user ||
               (kind == ContendedBlocks::Kind::kernel && lane.instructions >= lane.slice.kernel_turn_end);
    }
    bool all_contend() const;
    std::int64_t executes_until(const Lane& next, bool all) const;
    void set_end(Lane& next, std::int64_t until) const;
    static void repeat_until(Lane& lane, std::int64_t time);
    void resume(Lane& lane, std::int64_t time);
    void take_in(const Lane& lane);

    const model::Machine& machine_;
    const Lanes& lanes_;
    Round& round_;
    EpochWriter& writer_;
    ExpectedTime& time_;
    ContendedBlocks contended_blocks_;
    std::vector<Wake> wakes_;  ///< by processor
    model::CoreSet sleeping_;
    Lane* running_ = nullptr;          ///< the processor of the current time slice; null: none
    std::uint64_t slice_began_ = 0;    ///< its instructions at the beginning of the slice
    std::int64_t slice_until_ = 0;     ///< see executes_until
    unsigned skipped_ = 0;             ///< processors skipped since one ran
    model::CoreSet left_out_;          ///< of QEMU's round
    const Lane* stays_ = nullptr;      ///< skipped, but not left out
    std::uint64_t longest_slice_ = 0;  ///< see Windows::bound_slices; 0: not bounded
};

}  // namespace s80::plugin
