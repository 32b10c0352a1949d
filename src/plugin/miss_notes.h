// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of misses, and the profile. Notes say which instruction, address and task an event belongs to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/hierarchy.h"
#include "observe/attribution.h"
#include "observe/miss_sums.h"
#include "plugin/arguments.h"
#include "plugin/block.h"
#include "plugin/miss_log.h"
#include "plugin/notes.h"
#include "plugin/profile.h"
#include "plugin/sums_file.h"
#include "plugin/tasks.h"
#include "plugin/vcpu.h"
#include "plugin/whos.h"
#include "timing/merger.h"

namespace s80::plugin {

/// Owns the notes about recorded accesses, and writes what is made from them: the log of misses, the sums of
/// misses, and the profile. The recorder and Accesses call it. `epoch` is always the number of the epoch that
/// is being recorded.
class MissNotes {
public:
    /// Whether the arguments ask for the log or the sums of misses, so that accesses need notes.
    static bool taken(const Arguments& arguments) {
        return !arguments.misses.empty() || !arguments.sums.empty();
    }
    /// Whether the arguments ask for an output that names blocks by their addresses.
    static bool addresses(const Arguments& arguments) {
        return taken(arguments) || !arguments.profile.empty();
    }

    /// Creates the output files, and observes `merger` if misses are attributed. The references must outlive
    /// this object.
    MissNotes(const Arguments& arguments, const model::Machine& machine, const VcpuList& vcpus,
              model::Hierarchy& hierarchy, model::TimingMerger& merger);

    // --- notes; called only if taken() ---
    /// Attaches a note to the last event of `vcpu`, which is the fetch of this physical line.
    void fetch(Vcpu& vcpu, model::Line line);
    /// Attaches the note that access() has begun to the last event of `vcpu`, which is its load or store.
    /// `entry`: index of the line in the filter.
    void put(Vcpu& vcpu, std::size_t entry, std::uint64_t epoch) {
        notes_[vcpu.processor].put(vcpu, entry, epoch);
    }
    /// Attaches a note to the last event of `vcpu`, which is a load of a page walk. `physical`: address of
    /// the page-table entry.
    void put_walk(Vcpu& vcpu, std::uint64_t physical) { notes_[vcpu.processor].put_walk(vcpu, physical); }
    /// An access that is not recorded, because an event of this filter interval represents it. It must not
    /// cross a line. Merges it into the note of this event, unless the epoch has ended since, or another line
    /// has taken the filter's entry.
    void again(const Vcpu& vcpu, std::uint64_t address, std::uint64_t bytes, model::Kind kind,
               std::uint64_t epoch) {
        const auto entry = (address >> line_shift_) % kFilterEntries;
        notes_[vcpu.processor].again(vcpu, entry, epoch, address, bytes, kind);
    }
    /// Begins the note of an access, or of the part of it that lies in one line. If the filter holds the
    /// line, merges the access into the note of the event that represents it.
    void access(Vcpu& vcpu, const Site& site, std::uint64_t address, std::uint64_t bytes, model::Kind kind,
                std::uint64_t epoch);

    // --- which task runs ---
    /// Called when the task or the kernel entry cause of `vcpu` has changed.
    void runs(const Vcpu& vcpu, const Running& running);

    // --- profile; called only if a profile is written ---
    /// The running block of `vcpu` has reached the instruction at which a sample is due: takes all samples
    /// that are due, and sets when the next is due. `measuring`: false only sets that.
    void sample(Vcpu& vcpu, bool measuring);
    /// `block` is the first block after a sampled conditional branch of `vcpu`: counts whether the branch was
    /// taken.
    void branch_went(Vcpu& vcpu, const Block& block, bool measuring);

    /// Call it after all epochs have been played: completes the files.
    void finish();

private:
    const model::Machine& machine_;
    const unsigned line_shift_;
    std::vector<Notes> notes_;  ///< by processor; empty if misses are not attributed
    /// Index of the running task in `whos_`, by processor; empty if neither misses nor the profile need it.
    std::vector<std::uint32_t> who_;
    Whos whos_;
    std::unique_ptr<MissLog> log_;
    std::unique_ptr<SumsFile> sums_file_;
    std::unique_ptr<model::MissSums> sums_;
    std::unique_ptr<model::Attribution> attribution_;
    std::unique_ptr<Profile> profile_;  ///< null: no profile is written
};

}  // namespace s80::plugin
