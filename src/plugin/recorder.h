// SPDX-License-Identifier: GPL-2.0-or-later
// The recording side: turns QEMU's callbacks into the streams of events that the timing merger plays.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "checkpoint/state_file.h"
#include "memory/hierarchy.h"
#include "observe/snapshot.h"
#include "plugin/accesses.h"
#include "plugin/arguments.h"
#include "plugin/block.h"
#include "plugin/capture.h"
#include "plugin/contexts.h"
#include "plugin/entry_points.h"
#include "plugin/epochs.h"
#include "plugin/guest_memory.h"
#include "plugin/guest_ram.h"
#include "plugin/miss_notes.h"
#include "plugin/phase_page.h"
#include "plugin/pipeline.h"
#include "plugin/processes.h"
#include "plugin/program_regions.h"
#include "plugin/round.h"
#include "plugin/slice_end.h"
#include "plugin/vcpu.h"
#include "plugin/vcpus.h"
#include "plugin/virtual_time.h"
#include "plugin/watch.h"
#include "timing/merger.h"

namespace s80::plugin {

/// Creates and connects all parts of the recording side, and of the playing side behind it (timing merger and
/// model). The header of each part says what it owns and who calls it. A callback of QEMU calls a part
/// directly if no other part is concerned, and otherwise this class. All callbacks run on the one thread that
/// executes the vCPUs.
///
/// QEMU maps the guest's RAM only after it has loaded the plugin. So the playing side, and the parts that
/// need it, exist from the first executed block on (enter()). Blocks are translated earlier; until then, only
/// these functions may be called: find_qemu(), ram(), entry_points(), contexts().kernel(), processes(), and
/// those about arguments.
class Recorder {
public:
    Recorder(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol);

    // --- parts of the recording side ---
    GuestRam& ram() { return ram_; }
    EntryPoints& entry_points() { return entry_points_; }
    Contexts& contexts() { return contexts_; }
    Processes& processes() { return processes_; }
    Accesses& accesses() { return *accesses_; }

    // --- what the arguments ask for ---
    unsigned line_shift() const { return machine_.line_shift(); }
    /// Whether memcpy in a kernel module counts as the access of a device.
    bool dma() const { return arguments_.dma != 0; }
    bool notes() const { return MissNotes::taken(arguments_); }
    bool addresses() const { return MissNotes::addresses(arguments_); }
    /// Whether a profile is written.
    bool profiles() const { return !arguments_.profile.empty(); }

    // --- callbacks; `vcpu` is the context of the processor that executes ---
    /// QEMU begins a time slice of this vCPU. `vcpu_state`: QEMU's state of the vCPU. Returns false if the
    /// time slice must end before its first block.
    bool enter(void* vcpu_state);
    void halted(Vcpu& vcpu);      ///< called before HLT
    void paused(Vcpu& vcpu);      ///< called before PAUSE, at which QEMU ends the time slice
    void clock_read(Vcpu& vcpu);  ///< called before an instruction that reads the time-stamp counter
    /// The kernel calls a function that reports an event of a process: see Processes::changes.
    void process_changes(Mappings::Hook hook) { processes_.changes(hook, *running_vcpu, epochs_->number()); }
    /// A function of a program's allocator returns: see Processes::allocation_ends.
    void allocation_ends() {
        const Vcpu& vcpu = *running_vcpu;
        processes_.allocation_ends(vcpu, contexts_.running(vcpu.processor), epochs_->number());
    }
    /// The running block has reached the instruction at which the profile takes a sample.
    void sample(Vcpu& vcpu) { misses_->sample(vcpu, epochs_->measuring()); }
    /// `block` is the first block after a sampled conditional branch.
    void branch_went(Vcpu& vcpu, const Block& block) {
        misses_->branch_went(vcpu, block, epochs_->measuring());
    }

    // --- called when the guest executes a marker ---
    void bind(void* vcpu_state, unsigned processor);
    void load_begin();
    /// A program marks the beginning or end of a measured region: see ProgramRegions::program_marks.
    void program_marks(model::Mark mark, bool by_marker);
    /// The program whose regions are to be measured begins or ends. `region`: a measured region begins or
    /// ends with it.
    void run_begins(bool region);
    void run_ends(bool region);
    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
        epochs_->transaction_end(type, client, failed);
    }

    /// Called when QEMU exits: plays the remaining epochs, saves the model's state, and completes all files.
    void finish();

    /// Ends the time slice before the block that begins, by a jump back into QEMU. `instructions`: number of
    /// instructions of this block. `return_address`: where the block's callback would return to. See
    /// SliceEnd::leave.
    [[noreturn]] void leave(std::uint64_t instructions, std::uintptr_t return_address) {
        qemu_->slice_end.leave(instructions, return_address);
    }
    /// Finds and verifies the parts of QEMU. Called while QEMU translates the first block, on the thread that
    /// executes the vCPUs.
    void find_qemu();

private:
    /// The parts of QEMU beyond the plugin interface that the plugin reads and changes. The constructor
    /// throws Error if this QEMU is not known.
    struct Qemu {
        SliceEnd slice_end;
        QemuRound round;
        QemuTime time;
    };
    /// The playing side. Each member uses the members before it.
    struct Playing {
        Playing(const model::Machine& machine, const model::Protocol& protocol, std::uint64_t lines)
            : hierarchy(machine, protocol, lines), merger(hierarchy) {}
        model::Hierarchy hierarchy;
        model::TimingMerger merger;
        std::unique_ptr<model::SnapshotWriter> snapshots;
        std::unique_ptr<Capture> capture;
        std::unique_ptr<Pipeline> pipeline;
    };

    void start_model();
    void start_playing(std::uint64_t lines);
    /// Restores the plugin's part of a checkpoint. Returns the state for `Epochs`.
    Epochs::State restore(const model::Extra& extra);
    void restore_totals(EpochWriter::Totals& totals) const;
    model::Extra extra() const;

    const Arguments arguments_;
    const model::Machine machine_;
    const model::Protocol protocol_;
    GuestRam ram_;
    Watch watch_;
    PhasePage page_;
    EntryPoints entry_points_;
    ProgramRegions regions_;
    Vcpus vcpus_;
    Contexts contexts_;
    Processes processes_;
    std::optional<Qemu> qemu_;
    // These parts exist from the first executed block on:
    std::optional<Playing> playing_;
    std::optional<MissNotes> misses_;
    std::optional<Epochs> epochs_;
    std::optional<GuestMemory> memory_;
    std::optional<Accesses> accesses_;
    bool finished_ = false;
};

/// The only recorder of the process. It is never destroyed, because QEMU calls the plugin's exit callback
/// after it has destroyed static objects.
extern Recorder* the_recorder;
inline Recorder& recorder() {
    return *the_recorder;
}

}  // namespace s80::plugin
