// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slice_scheduler.h"

#include <algorithm>
#include <limits>

namespace s80::plugin {

using model::Event;
using model::TimingMerger;

namespace {

/// A time slice in which a processor keeps a disputed line ends after so many instructions, so that another
/// one can take the line.
constexpr std::uint64_t kKeepsLine = 1'000;
/// A processor contends until it has executed so many instructions without a conflict, and so long after a
/// timer woke it: more than the kernel needs for a system call that puts a thread to sleep or wakes it, or
/// for a timer interrupt.
constexpr std::uint64_t kContends = 4'000;
/// A processor contends for at least an epoch after the epoch of a conflict of user code, and for at least so
/// many cycles: a program may work for long between two locks.
constexpr unsigned kUserContends = 20'000;
/// A processor that reads a line to which another one stores may poll it. The accesses after so many
/// instructions are recorded again.
constexpr std::uint64_t kPolls = 200;
/// Cycles by which a contender may get ahead of the next one in blocks that may access a disputed line:
/// hardly at all. In other blocks it may get ahead by a quantum, as in the timing merger, because time slices
/// would otherwise be very short.
constexpr std::int64_t kAhead = 1;
/// The same in such blocks of the kernel: far fewer cycles than the transfer of a line takes. With 1 cycle, a
/// mail server would need a third more time slices.
constexpr std::int64_t kKernelAhead = 16;
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

}  // namespace

SliceScheduler::SliceScheduler(const model::Machine& machine, const VcpuList& vcpus, Round& round,
                               EpochWriter& writer, ExpectedTime& time, model::CoreSet sleeping)
    : machine_(machine),
      vcpus_(vcpus),
      round_(round),
      writer_(writer),
      time_(time),
      wakes_(vcpus.size()),
      sleeping_(sleeping) {
    for (const unsigned processor : sleeping_) {
        vcpus_[processor]->attention |= kHalted;
    }
}

void SliceScheduler::begin_epoch() {
    wakes_.assign(wakes_.size(), Wake{});
    for (const auto& vcpu : vcpus_) {
        vcpu->slice.contends_epochs -= vcpu->slice.contends_epochs != 0 ? 1 : 0;
    }
}

// --- time slices ---

bool SliceScheduler::begin(Vcpu& next) {
    const std::int64_t until = executes_until(next, all_contend());
    if (next.time() > until && ++skipped_ <= 2 * vcpus_.size()) {
        skip(next);
        return false;
    }
    skipped_ = 0;
    if (stays_ == &next) {
        stays_ = nullptr;
    }
    Slice& slice = next.slice;
    if (next.polls.parked) {
        next.polls.parked = false;
        slice.paused = true;  // it waits for a store
    }
    running_ = &next;
    slice_began_ = next.instructions;
    slice_until_ = until;
    slice.poll_stored = slice.paused && slice.stored;
    slice.may_poll = !slice.stored && next.contends() && next.context.entry() == model::KernelEntry::user;
    slice.stored = false;
    slice.over = false;
    set_end(next, until);
    slice.reads_again = false;
    return true;
}

/// Sets the end of the time slice that begins now: a bit after `until`, the time of the next contender.
void SliceScheduler::set_end(Vcpu& next, std::int64_t until) const {
    const auto passes = [&next, until](std::int64_t cycles) {
        return std::max(next.share.reaches(until + cycles * TimingMerger::kUnit), next.instructions + 1);
    };
    next.slice.end = Slice::kNever;
    next.slice.contention_end = Slice::kNever;
    if (longest_slice_ != 0) {
        next.slice.end = next.instructions + longest_slice_;
    } else if (until != kNoTime) {
        next.slice.end = passes(machine_.quantum_cycles);
        next.slice.contention_end = passes(kAhead);
        next.slice.kernel_contention_end = passes(kKernelAhead);
    }
}

void SliceScheduler::end() {
    if (running_ == nullptr) {
        return;
    }
    running_->slice.paused = false;
    running_->slice.after_pause = false;
    writer_.add_slice(ran(*running_));
    time_.ran(*running_, ran(*running_));
    running_ = nullptr;
    take_in_next_contender();
}

bool SliceScheduler::used_up() const {
    return std::none_of(vcpus_.begin(), vcpus_.end(), [](const auto& vcpu) { return vcpu->has_left(); });
}

// --- contention ---

/// While a processor polls until a time (it reads the clock in the loop), all processors contend. Its polls
/// are executed, not counted, and must see exactly the stores of other processors up to that time.
bool SliceScheduler::all_contend() const {
    return longest_slice_ != 0 || std::any_of(vcpus_.begin(), vcpus_.end(), [](const auto& vcpu) {
               return vcpu->watches_clock() && vcpu->has_left();
           });
}

/// Returns the time until which `next` may execute. Of the processors that contend for lines, the one with
/// the lowest time executes until it has passed the next one, so that conflicts happen in the order of
/// simulated time. The same holds for a processor that polls. `all`: see all_contend.
std::int64_t SliceScheduler::executes_until(const Vcpu& next, bool all) const {
    std::int64_t first = kNoTime;
    if (all || next.slice.paused || next.contends()) {
        for (const auto& other : vcpus_) {
            if (other.get() != &next && (all || other->contends()) && other->has_left()) {
                first = std::min(first, other->time());
            }
        }
    }
    return first;
}

void SliceScheduler::contend(Vcpu& vcpu, const Conflicts::Found& found) {
    const bool user = vcpu.context.entry() == model::KernelEntry::user;
    Slice& slice = vcpu.slice;
    contended_blocks_.add(vcpu.block_id, writer_.number(), user);
    if (found.contended) {
        vcpu.filter.interval_end = std::min(vcpu.filter.interval_end, vcpu.instructions + kPolls);
        vcpu.check_at = std::min(vcpu.check_at, vcpu.filter.interval_end);
    }
    if (found.disputed && slice.end == Slice::kNever) {
        slice.end = vcpu.instructions + kKeepsLine;
        vcpu.check_at = std::min(vcpu.check_at, slice.end);
    }
    if (found.contended && slice.reads_again && vcpu.polls.search != 0) {
        vcpu.polls.ends_after_search = true;
        if (!found.transfers && !found.first) {
            return;
        }
    }
    if (found.transfers || found.first || (found.contended && slice.reads_again)) {
        slice.contends_until = vcpu.instructions + kContends;
        if (user) {
            slice.contends_epochs = 1 + std::max(kUserContends / machine_.epoch_cycles, 1U);
        }
        vcpu.end_before_next_block();
    } else if (found.disputed && vcpu.time() > slice_until_) {
        vcpu.end_before_next_block();  // the next contender may take the line
    }
}

void SliceScheduler::stored(model::CoreSet loaded, model::Line line, std::int64_t time) {
    for (const unsigned processor : loaded) {
        Vcpu& vcpu = *vcpus_[processor];
        if (!vcpu.polls.loop.loads(line)) {
            continue;
        }
        if (vcpu.polls.parked) {
            resume(vcpu, time);
        } else {
            vcpu.polls.loop.discard();
        }
    }
}

// --- waiting ---

void SliceScheduler::interrupt(Vcpu& vcpu, Vcpu& target) {
    if (target.polls.parked) {
        resume(target, vcpu.time());
        vcpu.end_before_next_block();
    }
    Wake& wake = wakes_[target.processor];
    if ((target.attention & kHalted) == 0 || wake.signal >= 0) {
        return;
    }
    wake = {writer_.add_signal(vcpu), vcpu.time()};
    vcpu.end_before_next_block();  // the other one executes from this time on
}

void SliceScheduler::interrupt_all(Vcpu& vcpu) {
    for (const auto& target : vcpus_) {
        if (target->polls.parked) {
            resume(*target, vcpu.time());
            vcpu.end_before_next_block();
        }
    }
}

void SliceScheduler::sleep(Vcpu& vcpu) {
    vcpu.attention |= kHalted;
    sleeping_.add(vcpu.processor);
    end();
    if (stays_ == nullptr) {
        take_in_all();
    }
}

bool SliceScheduler::all_sleep() const {
    return sleeping_ == model::CoreSet::below(static_cast<unsigned>(vcpus_.size()));
}

/// An interrupt of another processor wakes the processor at the time at which it was sent; a timer or device
/// wakes it at the beginning of the epoch. A processor does not wake before it fell asleep. After a timer
/// woke it, it contends: timer interrupts of several processors are often simultaneous, and access the same
/// lines of the kernel.
void SliceScheduler::wake(Vcpu& vcpu) {
    Wake& wake = wakes_[vcpu.processor];
    sleeping_.remove(vcpu.processor);
    vcpu.attention &= ~static_cast<std::uint32_t>(kHalted);
    if (wake.signal < 0) {
        vcpu.slice.contends_until = vcpu.instructions + kContends;
    }
    if (time_.runs()) {
        const std::int64_t woken = wake.signal >= 0 ? wake.time : 0;
        vcpu.share.set(vcpu.instructions, std::max(vcpu.time(), woken));
    }
    if (wake.signal >= 0) {
        writer_.add(vcpu, Event::wait(static_cast<std::uint32_t>(wake.signal)));
        wake.signal = -1;
    }
}

void SliceScheduler::park(Vcpu& vcpu) {
    vcpu.polls.iteration = vcpu.polls.loop.iteration(vcpu.executed());
    vcpu.polls.parked = true;
    vcpu.polls.must_poll = false;
}

/// Counts further polls of a parked processor as executed, until it reaches this time or the end of its
/// share.
void SliceScheduler::repeat_until(Vcpu& vcpu, std::int64_t time) {
    const std::uint64_t wanted = std::min(vcpu.share.reaches(time), vcpu.share.end());
    if (wanted > vcpu.instructions) {
        const std::uint64_t length = vcpu.polls.iteration.instructions;
        vcpu.repeat((wanted - vcpu.instructions + length - 1) / length);
    }
}

/// The parked processor executes its polls again, from this time on.
void SliceScheduler::resume(Vcpu& vcpu, std::int64_t time) {
    repeat_until(vcpu, time);
    vcpu.polls.parked = false;
    vcpu.polls.must_poll = false;
    vcpu.polls.loop.discard();
    vcpu.slice.paused = true;  // it waits for a store
    vcpu.slice.contends_until = vcpu.instructions + kContends;
    if (left_out_.has(vcpu.processor)) {
        take_in(vcpu);
    }
}

void SliceScheduler::repeat_to_end() {
    std::int64_t end = -1;
    std::int64_t behind = kNoTime;  // the earliest processor with instructions left may still store
    for (const auto& vcpu : vcpus_) {
        if (vcpu->awake() && !vcpu->polls.parked) {
            const std::int64_t time = vcpu->time();
            end = std::max(end, time);
            behind = vcpu->has_left() ? std::min(behind, time) : behind;
        }
    }
    end = std::min(end, behind);
    for (const auto& vcpu : vcpus_) {
        if (vcpu->polls.parked) {
            repeat_until(*vcpu, end < 0 ? kNoTime : end);
            // Because devices store without a callback, and interrupts may be due.
            vcpu->polls.must_poll = true;
        }
    }
}

// --- QEMU's round ---

void SliceScheduler::skip(const Vcpu& next) {
    if (stays_ == nullptr) {
        stays_ = &next;
    }
    if (stays_ != &next) {
        left_out_.add(next.processor);
        round_.leave_out(next.processor);
    }
}

void SliceScheduler::take_in(const Vcpu& vcpu) {
    left_out_.remove(vcpu.processor);
    round_.take_in(vcpu.processor);
}

void SliceScheduler::take_in_all() {
    for (const unsigned processor : left_out_) {
        take_in(*vcpus_[processor]);
    }
    stays_ = nullptr;
}

/// A time slice has ended, so another contender may be the earliest one now.
void SliceScheduler::take_in_next_contender() {
    if (left_out_.empty()) {
        return;
    }
    const bool all = all_contend();
    for (const unsigned processor : left_out_) {
        const Vcpu& vcpu = *vcpus_[processor];
        if (vcpu.has_left() && vcpu.time() <= executes_until(vcpu, all)) {
            take_in(vcpu);
        }
    }
}

}  // namespace s80::plugin
