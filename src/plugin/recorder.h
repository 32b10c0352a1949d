// SPDX-License-Identifier: GPL-2.0-or-later
// The recording side: turns QEMU's callbacks into events of the processors' streams.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/state_file.h"
#include "memory/hierarchy.h"
#include "observe/miss_sums.h"
#include "observe/snapshot.h"
#include "plugin/allocations.h"
#include "plugin/arguments.h"
#include "plugin/block.h"
#include "plugin/capture.h"
#include "plugin/entry_points.h"
#include "plugin/guest_ram.h"
#include "plugin/hashed_table.h"
#include "plugin/lane.h"
#include "plugin/mappings.h"
#include "plugin/miss_log.h"
#include "plugin/notes.h"
#include "plugin/phase_page.h"
#include "plugin/pipeline.h"
#include "plugin/profile.h"
#include "plugin/round.h"
#include "plugin/slice_end.h"
#include "plugin/sums_file.h"
#include "plugin/tasks.h"
#include "plugin/virtual_time.h"
#include "plugin/watch.h"
#include "plugin/whos.h"
#include "plugin/windows.h"
#include "timing/player.h"

namespace s80::plugin {

class Recorder {
public:
    Recorder(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol);

    // --- callbacks; the lane is that of the processor that runs ---
    /// A time slice began. False: it must end before its first block.
    bool enter(void* vcpu_state);
    bool attend(Lane& lane);  ///< performs the checks in `Lane::attention`; false: record nothing
    void change_context(Lane& lane, model::Context context);
    /// A filter interval or a share may have ended. False: the time slice must end before this block.
    bool check(Lane& lane);
    void new_interval(Lane& lane);
    /// A loop that polls may begin at this block.
    void search_loop(Lane& lane, const void* registers) const;
    void fetch(Lane& lane, model::Line line);
    void load_or_store(Lane& lane, std::uint32_t info, std::uint64_t address, model::Kind kind,
                       bool may_cross);
    void translation_changed(Lane& lane);
    void halted(Lane& lane);         ///< called before HLT
    void paused(Lane& lane);         ///< called before PAUSE, at which QEMU ends the time slice
    void clock_read(Lane& lane);     ///< called before the instruction
    void task_switched(Lane& lane);  ///< called after this instruction
    void kernel_entered(Lane& lane, model::Entry entry);
    void interrupt_returns(Lane& lane);
    void soft_interrupts_may_end(Lane& lane);
    /// Instead of load_or_store if notes are taken. Each line that the access touches has a note of its own
    /// part.
    void noted_access(Lane& lane, const Site& site, std::uint32_t info, std::uint64_t address,
                      model::Kind kind);
    /// A memcpy begins. In the disk's driver, which is a module, it counts as an access of the disk.
    void copy_begins(Lane& lane);
    /// An access of such a memcpy.
    void device_access(Lane& lane, std::uint32_t info, std::uint64_t address, model::Kind kind);
    /// The kernel calls a function that tells of a process.
    void process_changes(Mappings::Hook hook);
    const Mappings* mappings() const { return mappings_.get(); }
    /// A sample of the profile is due.
    void sample(Lane& lane);
    /// The block after a sampled conditional branch begins.
    void branch_went(Lane& lane, const Block& block);

    // --- markers ---
    void bind(void* vcpu_state, unsigned processor);
    void expect_page(Lane& lane, std::uint64_t address);
    void set_party(std::uint8_t party);
    void load_begin();
    /// A region begins or ends where a program executes a marker, or enters a function. A region that has
    /// begun does not begin again.
    void program_marks(model::Mark mark, bool by_marker);
    /// The program whose regions count runs. `region`: a region begins, or ends, too.
    void run_begins(bool region);
    void run_ends(bool region);
    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
        windows_->transaction_end(type, client, failed);
    }

    /// When QEMU exits: plays the recorded epochs and saves the model.
    void finish();

    /// Ends the time slice; see SliceEnd::leave.
    [[noreturn]] void leave(std::uint64_t instructions, std::uintptr_t return_address) {
        slice_end_->leave(instructions, return_address);
    }
    /// Called while QEMU translates the first block, on the thread that runs all processors.
    void find_qemu() {
        slice_end_.emplace();
        round_.emplace().verify();
        time_.emplace().verify();
    }

    GuestRam& ram() { return ram_; }
    EntryPoints& entry_points() { return entry_points_; }
    const Allocations& allocations() const { return allocations_; }
    /// A program calls a function of its allocator, and the function returns.
    void allocation_begins(Allocations::Size size);
    void allocation_ends();
    /// Null if the kernel layout is not known.
    const Kernel* kernel() const { return tasks_ ? &tasks_->kernel() : nullptr; }
    unsigned line_shift() const { return line_shift_; }
    /// Whether disks access memory themselves.
    bool dma() const { return arguments_.dma != 0; }
    /// Whether notes are taken of accesses, for the log or the sums of misses.
    bool notes() const { return !arguments_.misses.empty() || !arguments_.sums.empty(); }
    /// Whether polls may be counted without being executed: not in the reference order.
    bool skips_polls() const { return arguments_.slice == 0; }
    /// Whether blocks need their addresses.
    bool addresses() const { return notes() || !arguments_.profile.empty(); }

private:
    void start_model();
    /// Returns the state for `Windows`.
    Windows::State restore(const model::Extra& extra);
    model::Extra extra() const;
    Lane* find_lane(void* vcpu_state);
    void look_at_task(Lane& lane);
    void look_at_party(Lane& lane);
    void mark_region(model::Mark mark);
    void show_contexts(Lane& lane);
    void open_log();
    void finish_log();
    void note_who(const Lane& lane);
    void apic_store(Lane& lane, std::uint32_t info, std::uint64_t offset);
    /// The guest-physical address, or kNowhere if there is no memory. (Not an optional: such a result is
    /// written by bytes and read as a whole, and the store-forwarding stall costs the host more time than the
    /// rest of the function.)
    std::uint64_t translate(Lane& lane, std::uint32_t info, std::uint64_t address, model::Kind kind);
    std::uint64_t translate_anew(Lane& lane, std::uint32_t info, std::uint64_t address, model::Kind kind);
    void walk(Lane& lane, std::uint64_t address);
    void walk_hashed(Lane& lane, std::uint64_t address);
    void walk_access(Lane& lane, std::uint64_t physical);
    void note_part(Lane& lane, const Site& site, std::uint64_t address, std::uint64_t bytes,
                   model::Kind kind);
    void access_line(Lane& lane, std::uint32_t info, std::uint64_t address, model::Kind kind);

    const Arguments arguments_;
    const model::Machine machine_;
    const unsigned line_shift_;
    const std::uint64_t tlb_mask_;
    const HashedTable hashed_table_;  ///< located after the guest's memory, if the machine has one
    GuestRam ram_;
    Watch watch_;
    PhasePage page_;
    EntryPoints entry_points_;
    Allocations allocations_;
    bool in_region_ = false;  ///< of a program
    bool runs_;               ///< the program whose regions count

    std::unique_ptr<model::Protocol> protocol_;
    std::unique_ptr<model::Hierarchy> hierarchy_;
    std::unique_ptr<model::Player> player_;
    std::unique_ptr<model::SnapshotWriter> snapshots_;
    std::unique_ptr<Capture> capture_;
    std::unique_ptr<MissLog> log_;
    std::unique_ptr<SumsFile> sums_file_;
    std::unique_ptr<model::MissSums> sums_;
    /// The place of what happens now, for `mappings_`.
    Mappings::Place here(const Lane& lane) const;
    std::unique_ptr<Mappings> mappings_;
    std::unique_ptr<model::Attribution> attribution_;
    std::unique_ptr<Pipeline> pipeline_;
    std::unique_ptr<Windows> windows_;
    std::optional<SliceEnd> slice_end_;
    std::optional<QemuRound> round_;
    std::optional<QemuTime> time_;
    model::Line lines_ = 0;  ///< of the guest's memory

    Lanes lanes_;
    Lane unbound_;                                    ///< vCPUs that no marker has named yet
    std::vector<std::pair<void*, Lane*>> vcpus_;      ///< by TCG's state pointer
    std::map<std::uint64_t, unsigned> per_cpu_base_;  ///< kernel GS base -> processor
    std::vector<std::uint64_t> per_cpu_;              ///< by processor: address of the kernel's area for it
    std::vector<std::uint32_t> icr_high_;  ///< by processor: destination half of the local APIC's command
    std::map<std::uint64_t, std::uint8_t> parties_;  ///< CR3 -> process class that a marker gave it
    std::optional<Tasks> tasks_;                     ///< if the kernel layout is known
    std::vector<Running> running_;                   ///< by processor
    std::vector<Notes> notes_;                       ///< by processor, if misses are attributed
    std::unique_ptr<Profile> profile_;               ///< if one is written
    std::vector<std::uint32_t> who_;                 ///< by processor, for misses and the profile
    Whos whos_;

    bool finished_ = false;
};

/// The only recorder of the process. It is never destroyed: QEMU calls the plugin's exit callback after the
/// destructors of static objects.
extern Recorder* the_recorder;
inline Recorder& recorder() {
    return *the_recorder;
}

}  // namespace s80::plugin
