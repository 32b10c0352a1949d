// SPDX-License-Identifier: GPL-2.0-or-later
// Schedules time slices: which processor QEMU executes next, and until when (docs/background/clock.md).
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

/// QEMU offers the processors a time slice in turn. This class makes QEMU skip a processor that has used up
/// its share of the epoch, or that is ahead in time of another contender (a processor that contends for
/// lines), and it ends time slices early. It owns the running time slice, the set of contenders, the set of
/// processors that wait (asleep, or parked in a polling loop), and the processors left out of QEMU's round.
/// `Epochs` calls it, and ends an epoch when no processor has instructions left. Times are expected ones, in
/// 1/256 cycle since the beginning of the epoch.
class SliceScheduler {
public:
    /// `sleeping`: the processors that sleep when the guest is restored from a checkpoint. The references
    /// must outlive this object.
    SliceScheduler(const model::Machine& machine, const VcpuList& vcpus, Round& round, EpochWriter& writer,
                   ExpectedTime& time, model::CoreSet sleeping);

    // --- time slices ---
    /// QEMU begins a time slice of `next`, which has instructions left. Returns false if QEMU must skip
    /// `next`, because another contender is earlier in time.
    bool begin(Vcpu& next);
    /// Ends the running time slice, if there is one. QEMU may have ended it already.
    void end();
    /// Whether the time slice of the running processor must end before the block that begins, which
    /// Vcpu::block_id names.
    bool over(const Vcpu& vcpu) const {
        return vcpu.slice.over || vcpu.instructions >= vcpu.share.end() ||
               vcpu.instructions >= vcpu.slice.end || writer_.full() ||
               (vcpu.instructions >= vcpu.slice.contention_end && ahead(vcpu));
    }
    /// The processor whose time slice runs; null: none.
    const Vcpu* running() const { return running_; }
    /// Instructions that `vcpu`, the running processor, has executed in its time slice.
    std::uint64_t ran(const Vcpu& vcpu) const { return vcpu.instructions - slice_began_; }
    /// Whether no awake processor has instructions left in this epoch.
    bool used_up() const;
    /// See Epochs::bound_slices.
    void bound_slices(std::uint64_t instructions) { longest_slice_ = instructions; }

    // --- contention: several processors access a line, and at least one stores to it ---
    /// Call it for each access that `vcpu` records: notes what its polling loop loads, and whether it stores.
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
    /// The last access of `vcpu` was to a line that processors contend for. May make `vcpu` a contender, and
    /// may end its time slice, so that the processor stalls, or so that another one takes the line.
    void contend(Vcpu& vcpu, const Conflicts::Found& found);
    /// At this time, a processor stores to a line that the processors `loaded` have loaded. Those of them
    /// that are parked in a loop which polls this line execute again.
    void stored(model::CoreSet loaded, model::Line line, std::int64_t time);

    // --- waiting processors: asleep, or parked in a polling loop ---
    /// See Epochs::sleep. If all_sleep() is then true, the caller ends the epoch.
    void sleep(Vcpu& vcpu);
    bool all_sleep() const;
    model::CoreSet sleeping() const { return sleeping_; }
    void wake(Vcpu& vcpu);
    void interrupt(Vcpu& vcpu, Vcpu& target);
    void interrupt_all(Vcpu& vcpu);
    /// Parks `vcpu`, which has just executed one iteration of a polling loop: its further iterations are
    /// counted as executed, but QEMU does not execute them.
    static void park(Vcpu& vcpu);
    /// The epoch ends. Counts the iterations of parked processors, up to the time that the other processors
    /// have reached.
    void repeat_to_end();

    // --- QEMU's round ---
    /// QEMU skips `next`: leaves the processor out of QEMU's round. The first skipped processor stays in the
    /// round. If QEMU then begins time slices of this processor only, it cannot execute any other one: see
    /// skipped_too_often().
    void skip(const Vcpu& next);
    /// Call it before QEMU skips a processor that has no instructions left. Returns whether this has happened
    /// so often in a row that the epoch must end: the processors with instructions left are not executed by
    /// QEMU, because they wait for something that is not HLT.
    bool skipped_too_often() { return ++skipped_ > 2 * vcpus_.size(); }
    /// Takes all processors into QEMU's round again, at the end of an epoch.
    void take_in_all();
    /// Takes those processors into QEMU's round again that may execute now.
    void take_in_next_contender();

    void begin_epoch();

private:
    /// The interrupt of this epoch that will wake a sleeping processor.
    struct Wake {
        std::int64_t signal = -1;  ///< number of the interrupt in this epoch; -1: no interrupt
        std::int64_t time = 0;     ///< when the interrupt was sent
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
    Vcpu* running_ = nullptr;  ///< processor whose time slice runs; null: none
    /// Vcpu::instructions of `running_` at the beginning of its time slice.
    std::uint64_t slice_began_ = 0;
    std::int64_t slice_until_ = 0;     ///< result of executes_until() for the running time slice
    unsigned skipped_ = 0;             ///< number of time slices that were skipped since a processor executed
    model::CoreSet left_out_;          ///< processors that are left out of QEMU's round
    const Vcpu* stays_ = nullptr;      ///< the skipped processor that stays in QEMU's round; null: none
    std::uint64_t longest_slice_ = 0;  ///< see Epochs::bound_slices; 0: not bounded
};

}  // namespace s80::plugin
