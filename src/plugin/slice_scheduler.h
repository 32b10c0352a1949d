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
#include "plugin/round.h"
#include "plugin/vcpu.h"

namespace s80::plugin {

/// Owns the running time slice, the set of contending processors, the set of waiting ones (asleep, or parked
/// in a polling loop), and QEMU's round. QEMU runs the processors in turn. This class has QEMU skip a
/// processor that has used up its share or is ahead of another contender, and ends time slices early. Epochs
/// calls it, and ends epochs where none has instructions left. Times are expected ones.
class SliceScheduler {
public:
    /// `sleeping`: processors that sleep, in a restored guest. The references must outlive this object.
    SliceScheduler(const model::Machine& machine, const VcpuList& vcpus, Round& round, EpochWriter& writer,
                   ExpectedTime& time, model::CoreSet sleeping);

    // --- time slices ---
    /// QEMU begins a time slice of `next`, which has instructions left. Returns false if another contender
    /// comes first: then QEMU must skip `next`.
    bool begin(Vcpu& next);
    /// The running time slice ends, if there is one. QEMU may have ended it.
    void end();
    /// Whether the running processor's time slice must end before this block, the one with `Vcpu::block_id`.
    bool over(const Vcpu& vcpu) const {
        return vcpu.slice.over || vcpu.instructions >= vcpu.share.end() ||
               vcpu.instructions >= vcpu.slice.end || writer_.full() ||
               (vcpu.instructions >= vcpu.slice.contention_end && ahead(vcpu));
    }
    const Vcpu* running() const { return running_; }
    /// Instructions of `vcpu`, which is the running processor, in its time slice.
    std::uint64_t ran(const Vcpu& vcpu) const { return vcpu.instructions - slice_began_; }
    /// Whether no processor that is awake has instructions left.
    bool used_up() const;
    /// See Epochs::bound_slices.
    void bound_slices(std::uint64_t instructions) { longest_slice_ = instructions; }

    // --- contention ---
    /// `vcpu` has recorded an access.
    static void note_access(Vcpu& vcpu, model::Line line, model::Kind kind) {
        if (kind == model::Kind::store) {
            vcpu.slice.stored = true;
            vcpu.polls.recent.store();
            vcpu.polls.loop.discard();
        } else if (kind == model::Kind::load) {
            vcpu.polls.recent.load(line);
            vcpu.polls.loop.load(line);
        }
    }
    /// The last access of `vcpu` was to a line for which processors contend. May end the time slice, so that
    /// the processor stalls, or so that another one takes the line.
    void contend(Vcpu& vcpu, const Conflicts::Found& found);
    /// At this time another processor stores to a line that these processors have loaded.
    void stored(model::CoreSet loaded, model::Line line, std::int64_t time);

    // --- waiting ---
    /// See Epochs. The caller ends the epoch if all_sleep().
    void sleep(Vcpu& vcpu);
    bool all_sleep() const;
    model::CoreSet sleeping() const { return sleeping_; }
    void wake(Vcpu& vcpu);
    void interrupt(Vcpu& vcpu, Vcpu& target);
    void interrupt_all(Vcpu& vcpu);
    /// Parks `vcpu`, which has just executed one iteration of a polling loop: further iterations are counted,
    /// but not executed.
    static void park(Vcpu& vcpu);
    /// The epoch ends: counts the polls of processors that are still parked, up to the time that the others
    /// have reached.
    void repeat_to_end();

    // --- QEMU's round ---
    /// Leaves `next`, which QEMU skips, out of QEMU's round. The first processor that is skipped stays in the
    /// round: if QEMU then offers it again and again, QEMU cannot run any other processor
    /// (skipped_too_often).
    void skip(const Vcpu& next);
    /// Call it before a processor without instructions left is skipped. Returns whether so many were skipped
    /// in a row that QEMU does not run the processors that have instructions left: they wait for something
    /// else than HLT.
    bool skipped_too_often() { return ++skipped_ > 2 * vcpus_.size(); }
    /// Takes all processors into QEMU's round again.
    void take_in_all();
    /// Takes those processors into the round again that may execute now.
    void take_in_next_contender();

    void begin_epoch();

private:
    /// The interrupt of this epoch that wakes a processor.
    struct Wake {
        std::int64_t signal = -1;  ///< its number; -1: none
        std::int64_t time = 0;     ///< when it was sent
    };

    bool ahead(const Vcpu& vcpu) const {
        const ContendedBlocks::Kind kind = contended_blocks_.find(vcpu.block_id, writer_.number());
        return kind == ContendedBlocks::Kind::user || (kind == ContendedBlocks::Kind::kernel &&
                                                       vcpu.instructions >= vcpu.slice.kernel_contention_end);
    }
    bool all_contend() const;
    std::int64_t executes_until(const Vcpu& next, bool all) const;
    void set_end(Vcpu& next, std::int64_t until) const;
    static void repeat_until(Vcpu& vcpu, std::int64_t time);
    void resume(Vcpu& vcpu, std::int64_t time);
    void take_in(const Vcpu& vcpu);

    const model::Machine& machine_;
    const VcpuList& vcpus_;
    Round& round_;
    EpochWriter& writer_;
    ExpectedTime& time_;
    ContendedBlocks contended_blocks_;
    std::vector<Wake> wakes_;  ///< by processor
    model::CoreSet sleeping_;
    Vcpu* running_ = nullptr;          ///< processor of the current time slice; null: none
    std::uint64_t slice_began_ = 0;    ///< Vcpu::instructions of this processor at the beginning of the slice
    std::int64_t slice_until_ = 0;     ///< see executes_until
    unsigned skipped_ = 0;             ///< processors skipped since one ran
    model::CoreSet left_out_;          ///< processors that are not in QEMU's round
    const Vcpu* stays_ = nullptr;      ///< the processor that was skipped but not left out
    std::uint64_t longest_slice_ = 0;  ///< see Epochs::bound_slices; 0: not bounded
};

}  // namespace s80::plugin
