// SPDX-License-Identifier: GPL-2.0-or-later
// The log and the sums of misses, and the profile: notes about accesses and blocks, and the tasks that they
// belong to.
#include <algorithm>

#include "plugin/qemu_api.h"
#include "plugin/recorder.h"

namespace s80::plugin {

using model::Kind;

void Recorder::open_log() {
    if (addresses()) {
        who_.assign(lanes_.size(), 0);
    }
    if (!arguments_.profile.empty()) {
        profile_ = std::make_unique<Profile>(arguments_.profile);
        for (const auto& lane : lanes_) {
            lane->sampled.due_at = 0;
            lane->sampled.branches_left = Profile::kBranchPeriod;
        }
    }
    if (!notes()) {
        return;
    }
    notes_.assign(lanes_.size(), Notes(line_shift_));
    if (!arguments_.misses.empty()) {
        log_ = std::make_unique<MissLog>(arguments_.misses);
    }
    if (!arguments_.sums.empty()) {
        sums_file_ = std::make_unique<SumsFile>(arguments_.sums);
        sums_ = std::make_unique<model::MissSums>(hierarchy_->lines(), machine_.line_bytes,
                                                  arguments_.sums_limit);
    }
    attribution_ =
        std::make_unique<model::Attribution>(*hierarchy_, *player_, [this](const model::Miss& miss) {
            if (log_) {
                log_->write(miss);
            }
            if (sums_) {
                sums_->add(miss);
            }
        });
    player_->observe(*attribution_);
}

/// All epochs have been played.
void Recorder::finish_log() {
    if (log_) {
        log_->finish(machine_, whos_);
    }
    if (sums_) {
        sums_file_->write(*sums_, {attribution_->regions(), !attribution_->active()}, machine_, whos_);
    }
}

void Recorder::noted_access(Lane& lane, const Site& site, std::uint32_t info, std::uint64_t address,
                            Kind kind) {
    if (!lane.bound()) {
        return;
    }
    const std::uint64_t bytes = std::uint64_t{1} << qemu_plugin_mem_size_shift(info);
    const std::uint64_t next_line = ((address >> line_shift_) + 1) << line_shift_;
    const std::uint64_t here = std::min(bytes, next_line - address);
    note_part(lane, site, address, here, kind);
    load_or_store(lane, info, address, kind, false);
    if (here < bytes) {
        ++lane.counts.accesses[static_cast<unsigned>(kind)];
        note_part(lane, site, next_line, bytes - here, kind);
        access_line(lane, info, next_line, kind);
    }
}

/// Notes the part of an access that lies in one line. If an event of this filter interval represents the
/// access, the part is merged into that event's note.
void Recorder::note_part(Lane& lane, const Site& site, std::uint64_t address, std::uint64_t bytes,
                         Kind kind) {
    const auto entry = (address >> line_shift_) % kFilterEntries;
    Notes& notes = notes_[lane.processor];
    if (lane.filter.holds(address >> line_shift_, kind)) {
        notes.again(lane, entry, windows_->number(), address, bytes, kind);
    } else {
        notes.access(site, address, bytes, kind);
    }
}

/// The lane's task or what it is in the kernel for has changed.
void Recorder::note_who(const Lane& lane) {
    if (who_.empty()) {
        return;
    }
    const Running& running = running_[lane.processor];
    const Frames& frames = running.frames;
    const bool calls = !frames.empty() && frames.top().entry == model::Entry::system_call;
    const std::uint32_t who =
        whos_.number(running.task.pid, running.task.name, calls ? frames.top().system_call : Whos::kNoCall,
                     running.task.tgid);
    who_[lane.processor] = who;
    if (!notes_.empty()) {
        notes_[lane.processor].set_who(who);
    }
}

/// Not when the kernel was entered in between. Blocks that processes share are known by the addresses of one
/// of them, so only the place within the page is compared.
void Recorder::branch_went(Lane& lane, const Block& block) {
    if (windows_->measuring() && block.privilege == lane.sampled.followed_privilege &&
        block.entered == model::Entry::user) {
        profile_->branch(block.privilege, (block.address & kPageMask) + 1 != lane.sampled.followed);
    }
    lane.sampled.followed = 0;
}

void Recorder::sample(Lane& lane) {
    if (lane.sampled.due_at == 0) {  // the processor's first block
        lane.sampled.due_at = lane.instructions;
    }
    for (; lane.sampled.due_at <= lane.instructions; lane.sampled.due_at += Profile::kPeriod) {
        if (windows_->measuring()) {
            profile_->sample(lane.sampled.block, who_[lane.processor], lane.context);
        }
    }
}

}  // namespace s80::plugin
