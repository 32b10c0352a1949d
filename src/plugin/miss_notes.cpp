// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/miss_notes.h"

namespace s80::plugin {

using model::Kind;

MissNotes::MissNotes(const Arguments& arguments, const model::Machine& machine, const VcpuList& vcpus,
                     model::Hierarchy& hierarchy, model::TimingMerger& merger)
    : machine_(machine), line_shift_(machine.line_shift()) {
    if (addresses(arguments)) {
        who_.assign(vcpus.size(), 0);
    }
    if (!arguments.profile.empty()) {
        profile_ = std::make_unique<Profile>(arguments.profile);
        for (const auto& vcpu : vcpus) {
            vcpu->sampled.due_at = 0;
            vcpu->sampled.branches_left = Profile::kBranchPeriod;
        }
    }
    if (!taken(arguments)) {
        return;
    }
    notes_.assign(vcpus.size(), Notes(line_shift_));
    if (!arguments.misses.empty()) {
        log_ = std::make_unique<MissLog>(arguments.misses);
    }
    if (!arguments.sums.empty()) {
        sums_file_ = std::make_unique<SumsFile>(arguments.sums);
        sums_ =
            std::make_unique<model::MissSums>(hierarchy.lines(), machine.line_bytes, arguments.sums_limit);
    }
    attribution_ = std::make_unique<model::Attribution>(hierarchy, merger, [this](const model::Miss& miss) {
        if (log_) {
            log_->write(miss);
        }
        if (sums_) {
            sums_->add(miss);
        }
    });
    merger.observe(*attribution_);
}

void MissNotes::finish() {
    if (log_) {
        log_->finish(machine_, whos_);
    }
    if (sums_) {
        sums_file_->write(*sums_, {attribution_->regions(), !attribution_->active()}, machine_, whos_);
    }
    if (profile_) {
        profile_->finish(whos_);
    }
}

// --- notes about accesses ---

void MissNotes::fetch(Vcpu& vcpu, model::Line line) {
    Notes& notes = notes_[vcpu.processor];
    notes.fetch(vcpu.sampled.block, static_cast<std::uint64_t>(line) << line_shift_);
    notes.put(vcpu);
}

void MissNotes::access(Vcpu& vcpu, const Site& site, std::uint64_t address, std::uint64_t bytes, Kind kind,
                       std::uint64_t epoch) {
    if (vcpu.filter.holds(address >> line_shift_, kind)) {
        again(vcpu, address, bytes, kind, epoch);
    } else {
        notes_[vcpu.processor].access(site, address, bytes, kind);
    }
}

// --- which task runs ---

void MissNotes::runs(const Vcpu& vcpu, const Running& running) {
    if (who_.empty()) {
        return;
    }
    const Frames& frames = running.frames;
    const bool calls = !frames.empty() && frames.top().entry == model::KernelEntry::system_call;
    const std::uint32_t who =
        whos_.number(running.task.pid, running.task.name, calls ? frames.top().system_call : Whos::kNoCall,
                     running.task.tgid);
    who_[vcpu.processor] = who;
    if (!notes_.empty()) {
        notes_[vcpu.processor].set_who(who);
    }
}

// --- samples of the profile ---

/// Does not count the branch if the kernel was entered after it. Compares page offsets only: several
/// processes may share the translation of a block, which then has the virtual address from one of them.
void MissNotes::branch_went(Vcpu& vcpu, const Block& block, bool measuring) {
    Sampled& sampled = vcpu.sampled;
    if (measuring && block.privilege == sampled.followed_privilege &&
        block.entered == model::KernelEntry::user) {
        profile_->branch(block.privilege, (block.address & kPageMask) + 1 != sampled.followed);
    }
    sampled.followed = 0;
}

void MissNotes::sample(Vcpu& vcpu, bool measuring) {
    Sampled& sampled = vcpu.sampled;
    if (sampled.due_at == 0) {  // this is the first block of the processor
        sampled.due_at = vcpu.instructions;
    }
    for (; sampled.due_at <= vcpu.instructions; sampled.due_at += Profile::kPeriod) {
        if (measuring) {
            profile_->sample(sampled.block, who_[vcpu.processor], vcpu.context);
        }
    }
}

}  // namespace s80::plugin
