// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of misses, and the profile: notes about accesses and blocks, and the tasks that they belong to.
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

/// Owns the notes that Accesses takes, and what is written from them: the log and the sums of misses, and the
/// profile. `epoch` is the number of the epoch that is being recorded.
class MissNotes {
public:
    /// Whether notes are taken of accesses, for the log or the sums of misses.
    static bool taken(const Arguments& arguments) {
        return !arguments.misses.empty() || !arguments.sums.empty();
    }
    /// Whether blocks need their addresses.
    static bool addresses(const Arguments& arguments) {
        return taken(arguments) || !arguments.profile.empty();
    }

    /// Creates the files, and observes `merger` if notes are taken. The references must outlive this object.
    MissNotes(const Arguments& arguments, const model::Machine& machine, const VcpuList& vcpus,
              model::Hierarchy& hierarchy, model::TimingMerger& merger);

    // --- notes; only if they are taken ---
    /// Notes a fetch, which is the last event of `vcpu`. `line`: physical.
    void fetch(Vcpu& vcpu, model::Line line);
    /// Attaches the note of access() to a load or store, which is the last event of `vcpu`. `entry`: index in
    /// the filter.
    void put(Vcpu& vcpu, std::size_t entry, std::uint64_t epoch) {
        notes_[vcpu.processor].put(vcpu, entry, epoch);
    }
    /// Attaches a note to a page walk, which is the last event of `vcpu`.
    void put_walk(Vcpu& vcpu, std::uint64_t physical) { notes_[vcpu.processor].put_walk(vcpu, physical); }
    /// An access in one line that an event of this filter interval represents. Merges it into that event's
    /// note, unless the epoch has ended since or another line has taken the entry of the filter.
    void again(const Vcpu& vcpu, std::uint64_t address, std::uint64_t bytes, model::Kind kind,
               std::uint64_t epoch) {
        const auto entry = (address >> line_shift_) % kFilterEntries;
        notes_[vcpu.processor].again(vcpu, entry, epoch, address, bytes, kind);
    }
    /// Notes the part of an access that lies in one line. If an event of this filter interval represents the
    /// access, the part is merged into the note of that event.
    void access(Vcpu& vcpu, const Site& site, std::uint64_t address, std::uint64_t bytes, model::Kind kind,
                std::uint64_t epoch);

    // --- who ---
    /// The task of `vcpu`, or its kernel entry, has changed.
    void runs(const Vcpu& vcpu, const Running& running);

    // --- profile; only in the measured region ---
    /// Takes the samples that are due: of the block that `vcpu` has begun. `measuring`: false takes none, and
    /// only moves the next one on.
    void sample(Vcpu& vcpu, bool measuring);
    /// `block` follows a sampled conditional branch of `vcpu`.
    void branch_went(Vcpu& vcpu, const Block& block, bool measuring);

    /// All epochs have been played: writes the files that are still open.
    void finish();

private:
    const model::Machine& machine_;
    const unsigned line_shift_;
    std::vector<Notes> notes_;        ///< by processor, if misses are attributed
    std::vector<std::uint32_t> who_;  ///< by processor, for misses and the profile
    Whos whos_;
    std::unique_ptr<MissLog> log_;
    std::unique_ptr<SumsFile> sums_file_;
    std::unique_ptr<model::MissSums> sums_;
    std::unique_ptr<model::Attribution> attribution_;
    std::unique_ptr<Profile> profile_;  ///< if one is written
};

}  // namespace s80::plugin
