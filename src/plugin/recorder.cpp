// SPDX-License-Identifier: GPL-2.0-or-later
// Which processor runs, and for which task.
#include "plugin/recorder.h"

#include "plugin/registers.h"

namespace s80::plugin {

namespace {

constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

}  // namespace

Lane* current_lane = nullptr;
void* current_vcpu = nullptr;
Recorder* the_recorder = nullptr;

Recorder::Recorder(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol)
    : arguments_(arguments),
      machine_(machine),
      line_shift_(machine.line_shift()),
      tlb_mask_(machine.translation.entries - 1),
      hashed_table_(machine.translation.page_table),
      ram_(arguments.ram, arguments.low_ram),
      watch_(arguments.watch, ram_),
      entry_points_(arguments),
      allocations_(arguments.allocations),
      runs_(arguments.run == 0),
      protocol_(std::make_unique<model::Protocol>(protocol)),
      per_cpu_(machine.processors, 0),
      icr_high_(machine.processors, 0),
      running_(machine.processors) {
    if (!arguments.kernel.empty()) {
        tasks_.emplace(Kernel::load(arguments.kernel), Classes::load(arguments.classes), ram_);
    }
    if (!arguments.mappings.empty()) {
        mappings_ = std::make_unique<Mappings>(arguments.mappings, arguments.kernel, ram_);
    }
    if (dma() && (kernel() == nullptr || kernel()->copy_begin == 0 || kernel()->end == 0)) {
        throw model::Error(
            "the plugin argument dma needs a kernel file with the addresses of memcpy and _end");
    }
    if (entry_points_.counts()) {
        watch_.add("calls", entry_points_.calls());
    }
    for (unsigned p = 0; p < machine.processors; ++p) {
        lanes_.push_back(std::make_unique<Lane>());
        lanes_.back()->processor = p;
    }
}

/// The guest's RAM is mapped only after the plugin is loaded: the model begins with the first block.
void Recorder::start_model() {
    lines_ = static_cast<model::Line>(ram_.end() >> line_shift_);
    const std::uint64_t behind = machine_.translation.hashed ? machine_.translation.page_table : 0;
    const std::uint64_t lines = (ram_.end() + behind) >> line_shift_;
    hierarchy_ = std::make_unique<model::Hierarchy>(machine_, *protocol_, lines);
    for (unsigned core = machine_.cores() / 2; core < machine_.cores(); ++core) {
        hierarchy_->slow_down(core, static_cast<unsigned>(arguments_.slow));
    }
    player_ = std::make_unique<model::Player>(*hierarchy_);
    Windows::State state;
    if (!arguments_.state_in.empty()) {
        state = restore(model::load_state(arguments_.state_in, *hierarchy_, *player_));
    }
    snapshots_ = std::make_unique<model::SnapshotWriter>(arguments_.out + "/snapshots.jsonl", *hierarchy_,
                                                         watch_.names());
    capture_ = std::make_unique<Capture>(arguments_, machine_, *protocol_, lines);
    if (model::Observer* const filter = capture_->observer()) {
        player_->observe(*filter);
    }
    open_log();
    if (mappings_) {
        mappings_->observe(*player_, machine_);
    }
    pipeline_ = std::make_unique<Pipeline>(*player_, *hierarchy_, *snapshots_, *capture_, watch_);
    windows_ = std::make_unique<Windows>(
        machine_, model::TimeRules::of_recorder(machine_), lanes_, *pipeline_, page_, *time_, *round_, lines,
        static_cast<unsigned>(arguments_.clock_shift),
        Schedule(arguments_.skip, arguments_.measure, arguments_.window, arguments_.growth), state);
    windows_->bound_slices(arguments_.slice);
}

Lane* Recorder::find_lane(void* vcpu_state) {
    for (const auto& [state, lane] : vcpus_) {
        if (state == vcpu_state) {
            return lane;
        }
    }
    // A vCPU of a restored guest is known by the kernel's per-CPU base: in GS in the kernel, beside it in
    // user mode.
    for (const Register r : {Register::gs_base, Register::k_gs_base}) {
        const auto it = per_cpu_base_.find(read_register(r));
        if (it != per_cpu_base_.end()) {
            vcpus_.emplace_back(vcpu_state, lanes_[it->second].get());
            return vcpus_.back().second;
        }
    }
    return &unbound_;
}

bool Recorder::enter(void* vcpu_state) {
    if (!hierarchy_) {
        start_model();
    }
    Lane* next = find_lane(vcpu_state);
    if (next->bound()) {
        if (!windows_->begin_slice(*next, vcpu_state)) {
            current_vcpu = nullptr;  // the processor before may follow, with a time slice of its own
            return false;
        }
        new_interval(*next);
        if (next->polls.search != 0 && next->polls.loop.open() && !next->slice.paused) {
            next->check_at = 0;  // the search goes on
        } else if (next->slice.paused || next->slice.may_poll || next->polls.recent.may_poll()) {
            search_loop(*next, vcpu_state);
        } else {
            next->polls.search = 0;
        }
    }
    current_vcpu = vcpu_state;
    current_lane = next;
    return true;
}

void Recorder::bind(void* vcpu_state, unsigned processor) {
    if (processor >= lanes_.size()) {
        throw model::Error("the guest has a processor " + std::to_string(processor) +
                           ", but the machine file has only " + std::to_string(lanes_.size()));
    }
    const std::uint64_t kernel = read_register(Register::k_gs_base);
    const std::uint64_t base = (kernel & kKernelHalf) != 0 ? kernel : read_register(Register::gs_base);
    Lane* lane = lanes_[processor].get();
    const auto known = per_cpu_base_.find(base);
    if (known != per_cpu_base_.end()) {
        if (known->second != processor) {
            throw model::Error("two processors of the guest share one per-CPU area");
        }
        return;
    }
    per_cpu_base_[base] = processor;
    vcpus_.emplace_back(vcpu_state, lane);
    lane->attention = kAddressSpace | kTask;
    per_cpu_[processor] = base;
    lane->filter.key.begin();
    current_lane = lane;
    if (per_cpu_base_.size() == lanes_.size()) {
        windows_->start_clock();
    }
}

bool Recorder::attend(Lane& lane) {
    if (!lane.bound()) {
        return false;
    }
    if ((lane.attention & kAddressSpace) != 0) {
        lane.translations.page_table = read_register(Register::cr3) & ~kPageMask;
        look_at_party(lane);
    }
    if ((lane.attention & kTask) != 0) {
        look_at_task(lane);
    }
    lane.attention = 0;
    return true;
}

void Recorder::set_party(std::uint8_t party) {
    parties_[read_register(Register::cr3) & ~kPageMask] = party;
    for (const auto& each : lanes_) {  // others may have borrowed this address space
        if (each->bound()) {
            each->attention |= kAddressSpace;
        }
    }
}

void Recorder::load_begin() {
    if (vcpus_.size() != lanes_.size()) {
        throw model::Error(
            "the load began, but only " + std::to_string(vcpus_.size()) + " of " +
            std::to_string(lanes_.size()) +
            " processors were bound; compare the guest's processor count with the machine file");
    }
    windows_->begin_load();
}

void Recorder::program_marks(model::Mark mark, bool by_marker) {
    if (runs_ && (!by_marker || arguments_.markers != 0)) {
        mark_region(mark);
    }
}

void Recorder::run_begins(bool region) {
    runs_ = true;
    if (region) {
        mark_region(model::Mark::measure_begin);
    }
}

void Recorder::run_ends(bool region) {
    if (region) {
        mark_region(model::Mark::measure_end);
    }
    runs_ = arguments_.run == 0;
}

void Recorder::mark_region(model::Mark mark) {
    const bool begins = mark == model::Mark::measure_begin;
    if (begins != in_region_) {
        in_region_ = begins;
        windows_->mark(mark);
    }
}

void Recorder::finish() {
    if (!hierarchy_ || finished_) {
        return;
    }
    finished_ = true;
    windows_->finish();
    pipeline_->drain();
    if (!arguments_.state_out.empty()) {
        model::save_state(arguments_.state_out, *hierarchy_, *player_, extra());
    }
    pipeline_.reset();
    finish_log();
    if (mappings_) {
        mappings_->finish();
    }
    if (profile_) {
        profile_->finish(whos_);
    }
    capture_.reset();
    snapshots_.reset();
}

}  // namespace s80::plugin
