// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/recorder.h"

#include <algorithm>
#include <cstring>

#include "plugin/qemu_api.h"
#include "plugin/registers.h"

namespace s80::plugin {

using model::Event;
using model::Kind;
using model::Mark;
using model::Op;

Lane* current_lane = nullptr;
void* current_vcpu = nullptr;

namespace {

/// Windows of fewer instructions are joined with the next round.
constexpr std::uint64_t kShortestWindow = 9'000;
/// A turn is cut here, so that the modelled clock moves while one processor runs: soon when it runs
/// alone (nobody could interleave with it), late otherwise.
constexpr std::uint64_t kLongestAlone = 50'000;
constexpr std::uint64_t kLongestTurn = 1'000'000;
/// Guest time is compared with the instruction count at least this often.
constexpr std::uint64_t kTscInterval = 100'000;

constexpr unsigned kPageShift = 12;
constexpr std::uint64_t kPageMask = (std::uint64_t{1} << kPageShift) - 1;
constexpr std::uint64_t kPageNumberMask = (std::uint64_t{1} << 36) - 1;
constexpr std::uint64_t kGenerationStep = std::uint64_t{1} << 36;
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
constexpr std::uint64_t kApicPage = 0xfee00;

}  // namespace

Recorder* the_recorder = nullptr;

Recorder::Recorder(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol)
    : arguments_(arguments),
      machine_(machine),
      line_shift_(machine.line_shift()),
      slice_(
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(machine.quantum_cycles / machine.base_cpi))),
      ram_(arguments.ram, arguments.low_ram),
      schedule_(arguments.skip, arguments.measure, arguments.window),
      protocol_(std::make_unique<model::Protocol>(protocol)) {
    for (unsigned p = 0; p < machine.processors; ++p) {
        lanes_.push_back(std::make_unique<Lane>());
        lanes_.back()->processor = p;
    }
}

/// The guest's RAM is mapped only after the plugin is loaded: the model begins with the first block.
void Recorder::start_model() {
    const std::uint64_t lines = ram_.end() >> line_shift_;
    lines_ = static_cast<model::Line>(lines);
    hierarchy_ = std::make_unique<model::Hierarchy>(machine_, *protocol_, lines);
    player_ = std::make_unique<model::Player>(*hierarchy_);
    if (!arguments_.state_in.empty()) {
        restore(model::load_state(arguments_.state_in, *hierarchy_, *player_));
    }
    snapshots_ = std::make_unique<model::SnapshotWriter>(arguments_.out + "/snapshots.jsonl", *hierarchy_);
    pipeline_ = std::make_unique<Pipeline>(*player_, *hierarchy_, *snapshots_, player_->clock_ns());
    begin_window();
    if (schedule_.began()) {
        page_.publish(player_->clock_ns(), static_cast<std::uint64_t>(schedule_.phase()),
                      arguments_.generation);
    }
}

std::uint64_t Recorder::total_instructions() const {
    std::uint64_t total = base_instructions_;
    for (const auto& lane : lanes_) {
        total += lane->instructions;
    }
    return total;
}

// --- who runs ---

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

void Recorder::enter(void* vcpu_state) {
    if (!hierarchy_) {
        start_model();
    }
    Lane* next = find_lane(vcpu_state);
    if (next->bound()) {
        close_round(*next);
        if (next->instructions == next->window_start) {
            ++lanes_in_window_;
        }
    }
    current_vcpu = vcpu_state;
    current_lane = next;
}

void Recorder::bind(void* vcpu_state, unsigned processor) {
    if (processor >= lanes_.size()) {
        throw model::Error("the guest has a processor " + std::to_string(processor) +
                           ", the machine file only " + std::to_string(lanes_.size()));
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
    lane->attention = kAddressSpace;
    lane->epoch = std::uint64_t{1} << 41;
    current_lane = lane;
}

bool Recorder::attend(Lane& lane) {
    if (!lane.bound()) {
        return false;
    }
    if ((lane.attention & kTsc) != 0) {
        read_tsc(lane);
    }
    if ((lane.attention & kHalted) != 0) {
        wake(lane);
    }
    if ((lane.attention & kAddressSpace) != 0) {
        lane.page_table = read_register(Register::cr3) & ~kPageMask;
        const auto it = parties_.find(lane.page_table);
        lane.party = it == parties_.end() ? 0 : it->second;
    }
    lane.attention = 0;
    return true;
}

void Recorder::set_context(Lane& lane, std::uint8_t context) {
    const unsigned old = lane.context.value;
    const std::uint64_t instructions = lane.instructions - lane.counted;
    lane.counted = lane.instructions;
    lane.stream->instructions[old] += instructions;
    auto& classes = lane.stream->classes[old];
    std::uint64_t named = 0;
    for (unsigned i = 0; i + 1 < model::kInstructionClasses; ++i) {
        classes[i] += lane.classes[i];
        named += lane.classes[i];
    }
    classes.back() += instructions - named;
    lane.classes = {};
    for (unsigned k = 0; k < model::kKinds; ++k) {
        lane.stream->accesses[old][k] += lane.accesses[k];
    }
    lane.accesses = {};
    lane.context.value = context;
}

void Recorder::set_party(std::uint8_t party) {
    parties_[read_register(Register::cr3) & ~kPageMask] = party;
    for (const auto& each : lanes_) {  // others may have borrowed this address space
        if (each->bound()) {
            each->attention |= kAddressSpace;
        }
    }
}

// --- sleep and idle time ---

void Recorder::rdtsc(Lane& lane) {
    lane.attention |= kTsc;
    lane.tsc_total = total_instructions();
}

void Recorder::halted(Lane& lane) {
    if (!lane.bound()) {
        return;
    }
    lane.attention |= kHalted;
    halted_ |= 1U << lane.processor;
    const std::uint32_t everyone = ~std::uint32_t{0} >> (model::kMaxCores - lanes_.size());
    if (halted_ == everyone) {
        close_window(schedule_.due(total_instructions()));
        gap_pending_ = true;
    }
}

void Recorder::wake(Lane& lane) {
    halted_ &= ~(1U << lane.processor);
    lane.attention &= ~static_cast<std::uint32_t>(kHalted);
    new_slice(lane);  // what others stored meanwhile must be seen
    if (lane.wake_signal >= 0) {
        emit(lane, static_cast<model::Line>(lane.wake_signal), Op::wait);
        if (lane.wake_signal < 0) {  // emit began a new window: the interrupt was sent before it
            lane.out[-1].op = Op::pass;
        }
        lane.wake_signal = -1;
    }
}

/// Under icount guest time is the number of instructions plus the jumps over idle time, and the time-stamp
/// counter shows it in nanoseconds.
void Recorder::read_tsc(Lane& lane) {
    if (!gap_pending_ && lane.tsc_total - tsc_read_at_ < kTscInterval && tsc_known_) {
        return;
    }
    const std::uint64_t tsc =
        read_register(Register::rdx) << 32 | (read_register(Register::rax) & 0xffff'ffffU);
    const std::int64_t bias = static_cast<std::int64_t>(tsc) - static_cast<std::int64_t>(lane.tsc_total);
    if (gap_pending_ && tsc_known_ && bias > tsc_bias_) {
        window_->idle_before_ns += static_cast<std::uint64_t>(bias - tsc_bias_);
        publish();
    }
    gap_pending_ = false;
    tsc_known_ = true;
    tsc_bias_ = bias;
    tsc_read_at_ = lane.tsc_total;
}

// --- accesses ---

void Recorder::translation_changed(Lane& lane) {
    lane.generation += kGenerationStep;
    if (lane.generation == 0) {
        lane.tlb.fill(Translation{});
    }
    if (lane.bound()) {
        lane.attention |= kAddressSpace;
        new_slice(lane);
    }
}

void Recorder::new_slice(Lane& lane) {
    lane.slice_end = lane.instructions + slice_;
    lane.epoch += std::uint64_t{1} << 41;
    if (lane.epoch == 0) {  // the number has come round: nothing old may match
        lane.loads.fill(0);
        lane.stores.fill(0);
        lane.fetches.fill(0);
        lane.epoch = std::uint64_t{1} << 41;
    }
    const std::uint64_t longest = alone_before_ && lanes_in_window_ <= 1 ? kLongestAlone : kLongestTurn;
    if (lane.instructions - lane.window_start > longest) {
        close_window(schedule_.due(total_instructions()));
        lanes_in_window_ = 1;
    }
}

void Recorder::emit(Lane& lane, model::Line line, Op op) {
    constexpr std::uint64_t kLongestDelta = 0xffff;
    std::uint64_t delta = lane.instructions - lane.emitted_at;
    lane.emitted_at = lane.instructions;
    do {
        if (lane.out == lane.out_end) {
            // The window is full: it ends here, wherever the round is.
            const std::uint64_t here = lane.emitted_at;
            lane.emitted_at = here - delta;
            close_window(schedule_.due(total_instructions()));
            lanes_in_window_ = 1;
            delta = lane.instructions - lane.emitted_at;
            lane.emitted_at = here;
        }
        const bool fits = delta <= kLongestDelta;
        *lane.out++ = Event{fits ? line : 0, static_cast<std::uint16_t>(fits ? delta : kLongestDelta),
                            fits ? op : Op::pass, lane.context};
        if (fits) {
            return;
        }
        delta -= kLongestDelta;
    } while (true);
}

void Recorder::fetch(Lane& lane, model::Line line) {
    emit(lane, line, Op::ifetch);
    lane.fetches[line % kFilterEntries] = line | lane.epoch;
}

std::optional<std::uint64_t> Recorder::translate(Lane& lane, std::uint32_t info, std::uint64_t address,
                                                 Kind kind) {
    const std::uint64_t page = address >> kPageShift;
    Translation& t = lane.tlb[page % kTlbEntries];
    const std::uint64_t tag = (page & kPageNumberMask) | lane.generation;
    if (t.tag == tag) {
        return t.physical | (address & kPageMask);
    }
    const qemu_plugin_hwaddr* hwaddr = qemu_plugin_get_hwaddr(info, address);
    if (hwaddr == nullptr) {
        return std::nullopt;
    }
    const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(hwaddr);
    if (qemu_plugin_hwaddr_is_io(hwaddr)) {
        if (kind == Kind::store && physical >> kPageShift == kApicPage) {
            apic_store(lane, info, physical & kPageMask);
        }
        return std::nullopt;
    }
    walk(lane, address);
    t = {tag, physical & ~kPageMask};
    return physical;
}

/// A miss of the modelled data TLB (the translations of a lane) loads the entries of the guest's own page
/// tables, from the top (Intel SDM, volume 3, 4.5: 4-level paging). QEMU's walks are not shown to plugins.
void Recorder::walk(Lane& lane, std::uint64_t address) {
    constexpr std::uint64_t kAddress = 0x000f'ffff'ffff'f000;
    constexpr std::uint64_t kPresent = 1;
    constexpr std::uint64_t kLargePage = 1U << 7;
    constexpr std::uint64_t kIndexMask = 511;
    std::uint64_t table = lane.page_table;
    for (const unsigned shift : {39U, 30U, 21U, 12U}) {
        const std::uint64_t entry_at = table + (address >> shift & kIndexMask) * sizeof(std::uint64_t);
        const std::uint8_t* host = ram_.host(entry_at);
        if (host == nullptr) {
            return;
        }
        ++lane.accesses[static_cast<unsigned>(Kind::walk)];
        emit(lane, static_cast<model::Line>(entry_at >> line_shift_), Op::walk);
        std::uint64_t entry = 0;
        std::memcpy(&entry, host, sizeof entry);
        if ((entry & kPresent) == 0 || ((entry & kLargePage) != 0 && shift != 39)) {
            return;
        }
        table = entry & kAddress;
    }
}

/// The command register of the local APIC: an interrupt to another processor wakes it.
void Recorder::apic_store(Lane& lane, std::uint32_t info, std::uint64_t offset) {
    constexpr std::uint64_t kCommandLow = 0x300;
    constexpr std::uint64_t kCommandHigh = 0x310;
    constexpr std::uint32_t kShorthand = 3U << 18;
    const std::uint32_t value = qemu_plugin_mem_get_value(info).data.u32;
    if (offset == kCommandHigh) {
        lane.icr_high = value >> 24;
    } else if (offset == kCommandLow && (value & kShorthand) == 0 && lane.icr_high < lanes_.size()) {
        Lane& target = *lanes_[lane.icr_high];
        if ((target.attention & kHalted) != 0 && target.wake_signal < 0) {
            emit(lane, window_->signals, Op::signal);
            // After emit: it may have begun a new window.
            lane.out[-1].line = window_->signals;
            target.wake_signal = window_->signals++;
        }
    }
}

void Recorder::access_line(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind) {
    constexpr std::uint64_t kLineMask = (std::uint64_t{1} << 41) - 1;
    const std::uint64_t virtual_line = address >> line_shift_;
    const std::uint64_t key = (virtual_line & kLineMask) | lane.epoch;
    const auto entry = virtual_line % kFilterEntries;
    if (lane.stores[entry] == key || (kind == Kind::load && lane.loads[entry] == key)) {
        return;
    }
    const auto physical = translate(lane, info, address, kind);
    if (!physical) {
        return;
    }
    const std::uint64_t line = *physical >> line_shift_;
    if (line >= lines_) {
        return;  // firmware
    }
    emit(lane, static_cast<model::Line>(line), static_cast<Op>(kind));
    lane.loads[entry] = key;
    if (kind == Kind::store) {
        lane.stores[entry] = key;
    }
}

void Recorder::load_or_store(Lane& lane, std::uint32_t info, std::uint64_t address, Kind kind,
                             bool may_cross) {
    if (!lane.bound()) {
        return;
    }
    if (kind == Kind::store && lane.page_store != 0 && address == lane.page_store) {
        lane.page_store = 0;
        if (const auto physical = translate(lane, info, address, kind)) {
            page_.accept(ram_, *physical & ~kPageMask);
            publish();
        }
    }
    access_line(lane, info, address, kind);
    if (may_cross) {
        const std::uint64_t last = address + (std::uint64_t{1} << qemu_plugin_mem_size_shift(info)) - 1;
        if (address >> line_shift_ != last >> line_shift_) {
            ++lane.accesses[static_cast<unsigned>(kind)];
            access_line(lane, info, last, kind);
        }
    }
}

void Recorder::expect_page(Lane& lane, std::uint64_t address) {
    constexpr std::uint64_t kSecondWord = 8;
    lane.page_store = address + kSecondWord;
    new_slice(lane);  // so that the store is not filtered
}

// --- windows ---

void Recorder::close_round(const Lane& next) {
    if (current_lane == nullptr || !current_lane->bound() || next.processor > current_lane->processor) {
        return;
    }
    const std::uint64_t total = total_instructions();
    if (total - window_began_ >= kShortestWindow) {
        close_window(schedule_.due(total));
    }
}

void Recorder::close_window(Mark mark) {
    for (const auto& lane : lanes_) {
        set_context(*lane, lane->context.value);
        model::Stream& s = *lane->stream;
        s.size = static_cast<std::size_t>(lane->out - s.events.data());
        s.tail = lane->instructions - lane->emitted_at;
        s.ran = lane->instructions != lane->window_start || s.size != 0;
        s.runs_on = lane->bound() && (lane->attention & kHalted) == 0;
        lane->emitted_at = lane->instructions;
    }
    alone_before_ = lanes_in_window_ <= 1;
    window_->mark = mark;
    window_->index = schedule_.index();
    window_->instructions = total_instructions();
    if (mark != Mark::none) {
        window_->transactions = transactions_;
    }
    idle_in_flight_ = {idle_in_flight_[1], window_->idle_before_ns};
    pipeline_->submit(std::move(window_));
    publish();
    begin_window();
}

/// The guest sees the clock of two windows ago and every idle gap since: their lengths are known at once.
void Recorder::publish() {
    const std::uint64_t idle =
        idle_in_flight_[0] + idle_in_flight_[1] + (window_ ? window_->idle_before_ns : 0);
    page_.publish(pipeline_->clock_ns() + idle, static_cast<std::uint64_t>(schedule_.phase()),
                  arguments_.generation);
}

void Recorder::begin_window() {
    window_ = pipeline_->take();
    window_->signals = 0;
    window_->idle_before_ns = 0;
    window_began_ = total_instructions();
    lanes_in_window_ = 0;
    for (const auto& lane : lanes_) {
        model::Stream& s = window_->streams[lane->processor];
        s.instructions = {};
        s.accesses = {};
        s.classes = {};
        lane->stream = &s;
        lane->out = s.events.data();
        lane->out_end = lane->out + s.events.size();
        lane->window_start = lane->instructions;
        lane->wake_signal = -1;
    }
}

// --- phases ---

void Recorder::load_begin() {
    if (vcpus_.size() != lanes_.size()) {
        throw model::Error(
            "the load began but only " + std::to_string(vcpus_.size()) + " of " +
            std::to_string(lanes_.size()) +
            " processors were named; is the guest's processor count that of the machine file?");
    }
    schedule_.begin(total_instructions());
    close_window(Mark::load_begin);
}

void Recorder::transaction_end(std::uint64_t type, bool failed) {
    if (type < model::kTransactionTypes) {
        ++transactions_[type][failed ? 1 : 0];
    }
}

// --- the state beside a checkpoint ---

model::Extra Recorder::extra() const {
    model::Extra words{halted_,
                       page_.physical(),
                       static_cast<std::uint64_t>(tsc_bias_),
                       std::uint64_t{tsc_known_},
                       std::uint64_t{gap_pending_},
                       std::uint64_t{schedule_.began()},
                       per_cpu_base_.size(),
                       parties_.size()};
    for (const auto& [base, processor] : per_cpu_base_) {
        words.insert(words.end(), {base, processor});
    }
    for (const auto& [cr3, party] : parties_) {
        words.insert(words.end(), {cr3, party});
    }
    return words;
}

void Recorder::restore(const model::Extra& extra) {
    auto at = extra.begin();
    halted_ = static_cast<std::uint32_t>(*at++);
    page_.restore(ram_, *at++);
    tsc_bias_ = static_cast<std::int64_t>(*at++);
    tsc_known_ = *at++ != 0;
    gap_pending_ = *at++ != 0;
    const bool began = *at++ != 0;
    const std::uint64_t bases = *at++;
    const std::uint64_t parties = *at++;
    for (std::uint64_t i = 0; i < bases; ++i) {
        const std::uint64_t base = *at++;
        per_cpu_base_[base] = static_cast<unsigned>(*at++);
    }
    for (std::uint64_t i = 0; i < parties; ++i) {
        const std::uint64_t cr3 = *at++;
        parties_[cr3] = static_cast<std::uint8_t>(*at++);
    }
    for (const auto& [base, processor] : per_cpu_base_) {
        Lane& lane = *lanes_[processor];
        lane.attention = kAddressSpace;
        if ((halted_ >> processor & 1) != 0) {
            lane.attention |= kHalted;
        }
        lane.epoch = std::uint64_t{1} << 41;
    }
    const model::Statistics& stats = hierarchy_->stats();
    base_instructions_ = stats.sum(model::Stat::instructions);
    const auto transactions = stats.values(model::Stat::transactions);
    for (unsigned t = 0; t < model::kTransactionTypes; ++t) {
        std::copy_n(transactions.begin() + t * model::kOutcomes, model::kOutcomes, transactions_[t].begin());
    }
    if (began) {
        schedule_.begin(base_instructions_);
    }
}

void Recorder::finish() {
    if (!hierarchy_ || finished_) {
        return;
    }
    finished_ = true;
    close_window(Mark::exit);
    pipeline_->drain();
    if (!arguments_.state_out.empty()) {
        model::save_state(arguments_.state_out, *hierarchy_, *player_, extra());
    }
    pipeline_.reset();
    snapshots_.reset();
}

}  // namespace s80::plugin
