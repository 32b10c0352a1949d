// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slice_scheduler.h"

#include <algorithm>
#include <limits>

namespace s80::plugin {

using model::Event;
using model::TimingMerger;

namespace {

/// Instructions after which a processor that keeps a disputed line (one that was transferred in this epoch or
/// the last) ends its time slice, so that another processor can take the line.
constexpr std::uint64_t kKeepsLine = 1'000;
/// A processor contends until it has executed this number of instructions after its last conflict, or after a
/// timer woke it. The number is larger than the kernel needs for a timer interrupt, or for a system call that
/// puts a thread to sleep or wakes it.
constexpr std::uint64_t kContends = 4'000;
/// After a conflict of user code, a processor contends until the end of the next epoch, and for at least this
/// number of cycles in whole epochs: a program may work for long between two locks.
constexpr unsigned kUserContends = 20'000;
/// A processor that reads a line to which another one stores may poll it. Its filter interval therefore ends
/// after this number of instructions, so that the next read is recorded.
constexpr std::uint64_t kPolls = 200;
/// Cycles by which a contender may get ahead of the next contender, if its block may access a disputed line:
/// the order then matters. Before other blocks it may get ahead by a quantum, as in the timing merger;
/// otherwise time slices would be very short.
constexpr std::int64_t kAhead = 1;
/// The same for such blocks of the kernel. Far fewer cycles than the transfer of a line takes. With 1 cycle,
/// a mail server would need a third more time slices.
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
        slice.paused = true;  // a parked processor waits for a store
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

/// Sets where the time slice that begins must end: soon after `until`, the time of the next contender.
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

// --- contention: several processors access a line, and at least one stores to it ---

/// Whether all processors count as contenders. They do with bounded time slices (for tests), and while a
/// processor polls until a time, that is, reads the clock in its loop. Such polls are executed, and must see
/// exactly the stores that other processors have made up to that time.
bool SliceScheduler::all_contend() const {
    return longest_slice_ != 0 || std::any_of(vcpus_.begin(), vcpus_.end(), [](const auto& vcpu) {
               return vcpu->watches_clock() && vcpu->has_left();
           });
}

/// Returns the time up to which `next` may execute: that of the earliest other contender; kNoTime if there is
/// none, or if `next` neither contends nor polls. So conflicts happen in the order of simulated time. `all`:
/// all processors count as contenders (all_contend).
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
        vcpu.end_before_next_block();  // another contender may take the line now
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

// --- waiting processors: asleep, or parked in a polling loop ---

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
    vcpu.end_before_next_block();  // so that `target` executes from this time on
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

/// A processor that another processor's interrupt wakes continues at the time at which the interrupt was
/// sent. One that a timer or device wakes continues at the beginning of the epoch. Neither continues before
/// the time at which it fell asleep. After a timer woke it, a processor contends, because timer interrupts of
/// several processors are often simultaneous, and access the same lines of the kernel.
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

/// Counts iterations of a parked processor's loop as executed, until the processor has reached this time or
/// the end of its share.
void SliceScheduler::repeat_until(Vcpu& vcpu, std::int64_t time) {
    const std::uint64_t wanted = std::min(vcpu.share.reaches(time), vcpu.share.end());
    if (wanted > vcpu.instructions) {
        const std::uint64_t length = vcpu.polls.iteration.instructions;
        vcpu.repeat((wanted - vcpu.instructions + length - 1) / length);
    }
}

/// The parked processor is to execute its polls again, from this time on.
void SliceScheduler::resume(Vcpu& vcpu, std::int64_t time) {
    repeat_until(vcpu, time);
    vcpu.polls.parked = false;
    vcpu.polls.must_poll = false;
    vcpu.polls.loop.discard();
    vcpu.slice.paused = true;  // the processor waits for a store
    vcpu.slice.contends_until = vcpu.instructions + kContends;
    if (left_out_.has(vcpu.processor)) {
        take_in(vcpu);
    }
}

void SliceScheduler::repeat_to_end() {
    std::int64_t end = -1;
    // Time of the earliest processor with instructions left, which may still store.
    std::int64_t behind = kNoTime;
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
            // One poll must be executed in each epoch, because devices store without a callback, and
            // interrupts may be due.
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

/// A time slice has ended, so another contender may be the earliest now.
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
