// SPDX-License-Identifier: GPL-2.0-or-later
#include "timing/merger.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace s80::model {

namespace {

constexpr std::int64_t kNotSent = std::numeric_limits<std::int64_t>::min();
/// Host prefetch: how many events before their use the host loads the data of the private caches (kAhead) and
/// of the home (kBusAhead). Both apply only to L1-filtered epochs (Epoch::placed). kEventsAhead is the same
/// for the events themselves, in all epochs.
constexpr std::ptrdiff_t kAhead = 8;
constexpr std::ptrdiff_t kBusAhead = 3;
constexpr std::ptrdiff_t kEventsAhead = 32;
/// The largest number of lines that a processor polls, as in plugin/polling.h.
constexpr std::int64_t kPolledLines = 4;
/// A processor's pace (TimingMerger::Pace) is an average over about this number of cycles, but at least over
/// two epochs.
constexpr std::uint64_t kRememberedCycles = 160'000;

}  // namespace

TimingMerger::TimingMerger(Hierarchy& hierarchy)
    : hierarchy_(hierarchy),
      cpi_(std::llround(hierarchy.machine().base_cpi * kUnit)),
      shared_cpi_(std::llround(hierarchy.machine().base_cpi * kUnit / hierarchy.machine().issue_share)),
      quantum_(static_cast<std::int64_t>(hierarchy.machine().quantum_cycles) * kUnit),
      remembered_epochs_(std::max<std::uint64_t>(kRememberedCycles / hierarchy.machine().epoch_cycles, 2)),
      rules_(TimeRules::of_merger(hierarchy.machine())),
      epoch_(std::uint64_t{hierarchy.machine().epoch_cycles} * kUnit),
      threads_per_core_(hierarchy.machine().threads_per_core),
      paces_(hierarchy.machine().processors),
      base_(hierarchy.machine().cores(), 0),
      part_(hierarchy.machine().processors, 0),
      awaited_(hierarchy.machine().processors),
      awaited_before_(hierarchy.machine().processors) {}

std::int64_t TimingMerger::longest_lead_ns(const Machine& machine) {
    return TimeRules::longest_lead_cycles(machine) * 1'000'000 /
           static_cast<std::int64_t>(machine.clock_hz / 1000);
}

std::uint64_t TimingMerger::clock_ns() const {
    // 128 bits, because cycles times 10^9 exceed 64 bits after a minute.
    __extension__ typedef unsigned __int128 Wide;
    const auto ns = static_cast<Wide>(cycles_) * 1'000'000'000U /
                    (static_cast<Wide>(hierarchy_.machine().clock_hz) * kUnit);
    return idle_ns_ + static_cast<std::uint64_t>(ns);
}

void TimingMerger::set_clock(const Clock& clock) {
    cycles_ = clock.cycles;
    idle_ns_ = clock.idle_ns;
    paces_ = clock.paces;
    base_ = clock.base;
}

std::vector<std::uint64_t> TimingMerger::state() const {
    std::vector<std::uint64_t> words{cycles_, idle_ns_};
    for (const Pace& pace : paces_) {
        words.insert(words.end(), {pace.busy, pace.instructions, static_cast<std::uint64_t>(pace.lead)});
    }
    words.insert(words.end(), base_.begin(), base_.end());
    return words;
}

std::span<const std::uint64_t> TimingMerger::set_state(std::span<const std::uint64_t> words) {
    if (words.size() < state().size()) {
        throw Error("holds an array of another size");
    }
    auto at = words.begin();
    cycles_ = *at++;
    idle_ns_ = *at++;
    for (Pace& pace : paces_) {
        pace.busy = *at++;
        pace.instructions = *at++;
        pace.lead = static_cast<std::int64_t>(*at++);
    }
    for (std::uint64_t& cycles : base_) {
        cycles = *at++;
    }
    return {at, words.end()};
}

void TimingMerger::play(const Epoch& epoch) {
    begin(epoch);
    for (Observer* const observer : observers_) {
        observer->begin(epoch);
    }
    if (!observers_.empty()) {
        epoch.placed ? merge<true, true>() : merge<false, true>();
    } else {
        epoch.placed ? merge<true, false>() : merge<false, false>();
    }
    if (std::any_of(cursors_.begin(), cursors_.end(), [](const Cursor& c) { return c.blocked(); })) {
        throw Error(
            "a processor waits for an interrupt that was never sent or for an access that was never played: "
            "the recorded epoch is corrupt");
    }
    advance(epoch);
    count(epoch);
    for (Observer* const observer : observers_) {
        observer->end(epoch);
    }
}

void TimingMerger::begin(const Epoch& epoch) {
    idle_ns_ += epoch.idle_before_ns;
    cursors_.clear();
    clock_queue_.clear();
    sent_.assign(epoch.signals, kNotSent);
    awaited_before_.swap(awaited_);
    for (auto& times : awaited_) {
        times.clear();
    }
    for (unsigned p = 0; p < epoch.streams.size(); ++p) {
        const Stream& stream = epoch.streams[p];
        Cursor cursor;
        cursor.core = p / threads_per_core_;
        cursor.runs_on = stream.runs_on;
        cursor.done = !stream.ran;
        cursor.quiet(0, paces_[p].lead);
        cursor.clock = cursor.idle = cursor.start = paces_[p].lead;
        stream.each_used([&](Context context) { cursor.of_tail = context; });
        if (stream.ran) {
            cursor.at = stream.events.data();
            cursor.end = cursor.at + stream.size;
            cursor.tail = stream.tail;
            clock_queue_.add(p, cursor.clock);
            const Event* const soon = cursor.at + std::min(kAhead, cursor.end - cursor.at);
            for (const Event* e = cursor.at; epoch.placed && e != soon; ++e) {
                hierarchy_.host_prefetch(cursor.core, e->line, e->kind());
            }
        }
        cursors_.push_back(cursor);
    }
}

/// Plays the streams of all processors. The processor with the lowest clock always has the next turn, until
/// it is a quantum ahead of the second lowest.
template <bool kPlaced, bool kObserved, bool kShared>
void TimingMerger::turns() {
    while (!clock_queue_.empty()) {
        const unsigned p = clock_queue_.take();
        run<kPlaced, kObserved, kShared>(p, clock_queue_.next() + quantum_);
        const Cursor& cursor = cursors_[p];
        if (!cursor.done && !cursor.blocked()) {
            clock_queue_.add(p, std::max(cursor.turn, cursor.clock));
        }
    }
}

template <bool kPlaced, bool kObserved>
void TimingMerger::merge() {
    shared_cpi_ != cpi_ ? turns<kPlaced, kObserved, true>() : turns<kPlaced, kObserved, false>();
}

/// The duration of an instruction that begins at this time, in 1/256 cycle. `kShared`: the core's threads
/// share its issue slots; there are at most two threads, whose processors have neighbouring numbers.
template <bool kShared>
inline std::int64_t TimingMerger::cpi_at(unsigned processor, std::int64_t moment) const {
    return kShared && cursors_[processor ^ 1U].issues(moment) ? shared_cpi_ : cpi_;
}

void TimingMerger::wait_for_issue(unsigned processor, Context context, std::int64_t parts) {
    std::int64_t& part = part_[processor];
    part += parts;
    hierarchy_.delayed(cursors_[processor].core, context, Delay::issue,
                       static_cast<std::uint64_t>(part / kUnit));
    part %= kUnit;
}

/// Prefetches on the host what the next events need. Caches are prefetched only in L1-filtered epochs, where
/// nearly every event goes beyond the L1. If most events hit the L1, the prefetch costs as much as it saves.
template <bool kPlaced>
inline void TimingMerger::look_ahead(unsigned core, const Event* end, const Event* at) const {
    host_prefetch(at + kEventsAhead);
    const std::ptrdiff_t left = end - at;
    if (kPlaced && left > kAhead) {
        hierarchy_.host_prefetch(core, at[kAhead].line, at[kAhead].kind());
    }
    if (kPlaced && left > kBusAhead && at[kBusAhead].is_access()) {
        hierarchy_.host_prefetch_bus(core, at[kBusAhead].line, at[kBusAhead].kind());
    }
}

template <bool kObserved>
inline void TimingMerger::observed(const Outcome& outcome) const {
    if constexpr (kObserved) {
        if (outcome.place != Place::l1) {
            for (Observer* const observer : observers_) {
                observer->beyond_l1(outcome);
            }
        }
    }
}

/// Plays one processor until its clock reaches `until`, it must wait, or its stream ends. Its turn ends at
/// `until` even if there is no event at that time. So the order in which processors play does not depend on
/// events that an L1 absorbs, and an L1-filtered capture is replayed in the order of the live run. Events
/// without instructions between them belong to one block, which is never divided: no other processor plays
/// between the load and the store of a read-modify-write.
template <bool kPlaced, bool kObserved, bool kShared>
void TimingMerger::run(unsigned processor, std::int64_t until) {
    Cursor& cursor = cursors_[processor];
    // Copies, which no store can change: the compiler can keep them in registers.
    const Core core{cursor.core, hierarchy_.l1s(cursor.core), static_cast<std::int64_t>(cycles_)};
    const Event* const end = cursor.end;
    const Event* at = cursor.at;
    std::int64_t clock = cursor.clock;  // a local copy, which the compiler can keep in a register
    std::uint64_t instructions = 0;
    cursor.turn = until;
    while (at != end) {
        const Event& event = *at;
        const std::int64_t cpi = cpi_at<kShared>(processor, clock);
        const std::int64_t when = clock + event.delta * cpi;
        if (when > until && event.delta != 0) {
            break;
        }
        ++at;
        look_ahead<kPlaced>(core.number, end, at);
        if (kShared && cpi != cpi_) {
            wait_for_issue(processor, event.context, event.delta * (cpi - cpi_));
        }
        clock = when;
        instructions += event.delta;
        if constexpr (kObserved) {
            for (Observer* const observer : observers_) {
                observer->event(processor, event, clock);
            }
        }
        if (event.is_access()) {
            clock = play_access<kPlaced, kObserved, kShared>(cursor, core, event, clock);
            if (event.awaited == 0) [[likely]] {
                continue;
            }
        }
        cursor.clock = clock;
        const bool goes_on = event.is_access() ? play_awaited(processor) : play_other(processor, event);
        clock = cursor.clock;
        if (!goes_on) {
            break;
        }
    }
    cursor.clock = clock;
    if (at == end && !cursor.blocked()) {
        instructions += play_tail<kShared>(processor, until);
    }
    base_[cursor.core] += instructions * static_cast<std::uint64_t>(cpi_);
    cursor.instructions += instructions;
    cursor.at = at;
}

/// Plays an access that begins at `when`. Returns the time at which it ends.
template <bool kPlaced, bool kObserved, bool kShared>
[[gnu::always_inline]] inline std::int64_t TimingMerger::play_access(Cursor& cursor, const Core& core,
                                                                     const Event& event, std::int64_t when) {
    const Kind kind = event.kind();
    std::int64_t stall = 0;
    if constexpr (kPlaced) {
        hierarchy_.now(core.epoch_begin + when);
        const Outcome outcome =
            hierarchy_.access_placed(core.number, event.line, kind, event.context, event.l1_way());
        observed<kObserved>(outcome);
        stall = kUnit * outcome.stall;
    } else if (Cache::Slot slot; !core.l1s.satisfy(event.line, kind, slot)) {
        hierarchy_.now(core.epoch_begin + when);
        const Outcome outcome =
            hierarchy_.access_unsatisfied(core.number, event.line, kind, event.context, slot);
        observed<kObserved>(outcome);
        stall = kUnit * outcome.stall;
        if (event.stall_is_known()) [[unlikely]] {
            cursor.conflicts += stall;
        }
    }
    if (kShared && stall != 0) {
        cursor.quiet(when, when + stall);
    }
    return when + stall;
}

/// Plays the instructions after the last event, if all of them fit into this turn. Returns their number, or 0
/// if they do not fit.
template <bool kShared>
inline std::uint64_t TimingMerger::play_tail(unsigned processor, std::int64_t until) {
    Cursor& cursor = cursors_[processor];
    const std::int64_t cpi = cpi_at<kShared>(processor, cursor.clock);
    const auto count = static_cast<std::int64_t>(cursor.tail);
    if (cursor.clock + count * cpi > until) {
        return 0;
    }
    if (kShared && cpi != cpi_) {
        wait_for_issue(processor, cursor.of_tail, count * (cpi - cpi_));
    }
    cursor.clock += count * cpi;
    cursor.done = true;
    return cursor.tail;
}

bool TimingMerger::play_other(unsigned processor, const Event& event) {
    Cursor& cursor = cursors_[processor];
    switch (event.op) {
        case Op::after: return play_edge(cursor, event);
        case Op::signal: return play_signal(cursor, event);
        case Op::wait: return play_wait(cursor, event);
        case Op::device_read:
        case Op::device_write: play_device(cursor, event); return true;
        // Op::pass has no effect. It may stand for an access that each L1 absorbs; if ordering edges name
        // this access, its time is noted.
        default: return event.awaited == 0 || play_awaited(processor);
    }
}

bool TimingMerger::play_edge(Cursor& cursor, const Event& event) {
    const Edge edge = event.edge();
    std::int64_t earlier = 0;
    if (!passed(edge, earlier)) {
        cursor.block(event);
        return false;
    }
    wait_in_order(cursor, event.context, edge, earlier);
    return true;
}

bool TimingMerger::play_signal(Cursor& cursor, const Event& event) {
    if (signal(event.interrupt(), cursor.clock)) {
        cursor.turn = cursor.clock;
        // The processor that wakes may have a lower clock, so the next turn must be chosen again.
        return false;
    }
    return true;
}

bool TimingMerger::play_wait(Cursor& cursor, const Event& event) {
    if (sent(event.interrupt()) == kNotSent) {
        cursor.block(event);
        return false;
    }
    const std::int64_t woken = std::max(cursor.clock, sent(event.interrupt()));
    cursor.idle += woken - cursor.clock;
    cursor.quiet(cursor.clock, woken);
    cursor.clock = woken;
    return true;
}

void TimingMerger::play_device(const Cursor& cursor, const Event& event) {
    hierarchy_.now(static_cast<std::int64_t>(cycles_) + cursor.clock);
    event.op == Op::device_read ? hierarchy_.device_read(event.line) : hierarchy_.device_write(event.line);
}

/// The processor has played an event that ordering edges may name. Returns false if its turn must end,
/// because a processor waited for this event.
bool TimingMerger::play_awaited(unsigned processor) {
    if (played_awaited(processor)) {
        cursors_[processor].turn = cursors_[processor].clock;
        return false;  // the processor that waited may have a lower clock
    }
    return true;
}

/// Whether the event that this ordering edge waits for has been played. If so, sets `when` to its time;
/// kNotSent if the time is not known.
bool TimingMerger::passed(Edge edge, std::int64_t& when) const {
    if (edge.processor >= awaited_.size()) {
        throw Error("an ordering edge names processor " + std::to_string(edge.processor) +
                    ", which the machine does not have: the recorded epoch is corrupt");
    }
    const bool before = edge.wait == Wait::before;
    const std::vector<std::int64_t>& times = (before ? awaited_before_ : awaited_)[edge.processor];
    if (edge.number >= times.size()) {
        when = kNotSent;
        return before;  // in the first epoch of a capture, the epoch before is not known
    }
    when = times[edge.number];
    return true;
}

/// Notes the time of the awaited event that the processor has just played, and unblocks the processors that
/// wait for it. Returns whether there were any.
bool TimingMerger::played_awaited(unsigned processor) {
    std::vector<std::int64_t>& times = awaited_[processor];
    const auto number = static_cast<std::uint32_t>(times.size());
    const std::int64_t when = cursors_[processor].clock + cursors_[processor].behind;
    times.push_back(when);
    bool woke = false;
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        Cursor& c = cursors_[p];
        if (c.waits_at.op != Op::after) {
            continue;
        }
        if (const Edge edge = c.waits_at.edge(); edge.processor == processor && edge.number == number) {
            c.unblock();
            wait_in_order(c, (c.at - 1)->context, edge, when);
            clock_queue_.add(p, c.clock);
            woke = true;
        }
    }
    return woke;
}

/// A processor has reached an ordering edge; the event that it waits for ended at `when`. Charges the wait by
/// the rules of time.
void TimingMerger::wait_in_order(Cursor& cursor, Context context, Edge edge, std::int64_t when) {
    const std::int64_t now = cursor.clock + cursor.behind;
    if (when <= now) {
        return;
    }
    ++hierarchy_.stats().core(Stat::order_waits, cursor.core);
    note_wait_error(cursor, edge, now, when);
    const EdgeWait wait = rules_.wait(edge.wait, when - now);
    cursor.behind += wait.behind;
    if (!wait.stalls) {
        return;
    }
    hierarchy_.delayed(cursor.core, context, Delay::order, static_cast<std::uint64_t>(wait.stall / kUnit));
    cursor.quiet(cursor.clock, cursor.clock + wait.stall);
    cursor.clock += wait.stall;
    cursor.conflicts += wait.stall;
}

/// Adds to the wait error: the part of this wait that would not happen on the machine, where the processors
/// execute at the same time. `now`: when the processor reached the edge. `when`: when the awaited event
/// ended.
void TimingMerger::note_wait_error(const Cursor& cursor, Edge edge, std::int64_t now, std::int64_t when) {
    const std::int64_t time = when - now;
    // On the machine, a poll can also wait for one transfer, if the line is on its way.
    if (edge.wait == Wait::later && time > rules_.transfer()) {
        hierarchy_.stats().core(Stat::wait_error_cycles, cursor.core) +=
            static_cast<std::uint64_t>(time / kUnit);
    }
    // The other processor polled uselessly from `now` to `when`; this time is counted once. On the machine
    // its last poll can wait for a transfer of each polled line.
    if (edge.wait == Wait::polls && time > kPolledLines * rules_.transfer()) {
        Cursor& other = cursors_[edge.processor];
        const std::int64_t from = std::max(now, other.in_vain);
        hierarchy_.stats().core(Stat::wait_error_cycles, other.core) +=
            static_cast<std::uint64_t>(std::max<std::int64_t>(when - from, 0) / kUnit);
        other.in_vain = std::max(other.in_vain, when);
    }
}

/// When this interrupt of the epoch was sent; kNotSent: not yet.
std::int64_t& TimingMerger::sent(std::uint32_t number) {
    if (number >= sent_.size()) {
        throw Error("an epoch with " + std::to_string(sent_.size()) +
                    " interrupts has an event with number " + std::to_string(number) +
                    ": the recorded epoch is corrupt");
    }
    return sent_[number];
}

/// An interrupt is sent: wakes the processor that waits for it. Returns whether there is one.
bool TimingMerger::signal(std::uint32_t number, std::int64_t when) {
    sent(number) = when;
    bool woke = false;
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        Cursor& c = cursors_[p];
        if (c.waits_at.op == Op::wait && c.waits_at.interrupt() == number) {
            c.unblock();
            c.idle += std::max<std::int64_t>(when - c.clock, 0);
            c.quiet(c.clock, std::max(c.clock, when));
            c.clock = std::max(c.clock, when);
            clock_queue_.add(p, c.clock);
            woke = true;
        }
    }
    return woke;
}

/// Ends the epoch and advances simulated time. A processor that needed more time than the epoch lasts begins
/// the next epoch later; one that needed less begins it earlier.
void TimingMerger::advance(const Epoch& epoch) {
    EpochLength ended(rules_);
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        ended.add(cursors_[p].clock, epoch.streams[p].runs_on, epoch.streams[p].ran);
    }
    const std::int64_t length = ended.value();
    std::int64_t earliest = 0;
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        note_pace(p, epoch.streams[p].runs_on, length);
        earliest = std::min(earliest, paces_[p].lead);
        for (std::int64_t& when : awaited_[p]) {
            when -= length + cursors_[p].behind;
        }
    }
    cycles_ += static_cast<std::uint64_t>(length);
    hierarchy_.epoch_ended(static_cast<std::int64_t>(cycles_) + earliest);
}

void TimingMerger::note_pace(unsigned processor, bool runs_on, std::int64_t length) {
    const Cursor& cursor = cursors_[processor];
    Pace& pace = paces_[processor];
    const std::int64_t busy = cursor.clock - cursor.idle - cursor.conflicts;
    pace.busy += static_cast<std::uint64_t>(busy) - pace.busy / remembered_epochs_;
    pace.instructions += cursor.instructions * kUnit - pace.instructions / remembered_epochs_;
    pace.lead = rules_.lead(cursor.clock, length, runs_on);
    if (runs_on && cursor.idle == cursor.start) {  // the processor did not sleep in this epoch
        Statistics& stats = hierarchy_.stats();
        stats.core(Stat::epoch_cycles, cursor.core) += epoch_ / kUnit;
        stats.core(Stat::epoch_error_cycles, cursor.core) +=
            static_cast<std::uint64_t>(std::abs(pace.lead) / kUnit);
    }
}

void TimingMerger::count(const Epoch& epoch) {
    Statistics& stats = hierarchy_.stats();
    const auto classes = stats.values(Stat::instruction_class);
    for (unsigned p = 0; epoch.counted && p < epoch.streams.size(); ++p) {
        const Stream& stream = epoch.streams[p];
        const unsigned core = p / threads_per_core_;
        stream.each_used([&](Context context) {
            const unsigned c = context.value;
            for (unsigned i = 0; i < kInstructionClasses; ++i) {
                classes[context.group() * kInstructionClasses + i] += stream.classes[c][i];
            }
            stats.group(Stat::instructions, core, context) += stream.instructions[c];
            stats.entry(Stat::entry_instructions, context) += stream.instructions[c];
            for (unsigned k = 0; k < kKinds; ++k) {
                stats.kind(Stat::accesses, core, context, static_cast<Kind>(k)) += stream.accesses[c][k];
            }
        });
    }
    if (epoch.mark == Mark::none) {
        return;
    }
    const auto transactions = stats.values(Stat::transactions);
    for (unsigned t = 0; t < kTransactionTypes; ++t) {
        std::copy(epoch.transactions[t].begin(), epoch.transactions[t].end(),
                  transactions.begin() + t * kOutcomes);
    }
    std::copy(epoch.slices.slices.begin(), epoch.slices.slices.end(), stats.values(Stat::slices).begin());
    std::copy(epoch.slices.instructions.begin(), epoch.slices.instructions.end(),
              stats.values(Stat::slice_instructions).begin());
    const auto stalls = stats.values(Stat::stall_cycles);
    const std::size_t per_core = stalls.size() / stats.cores();
    for (unsigned core = 0; core < stats.cores(); ++core) {
        std::uint64_t busy = base_[core] / kUnit;
        for (std::size_t i = 0; i < per_core; ++i) {
            busy += stalls[core * per_core + i];
        }
        stats.core(Stat::busy_cycles, core) = busy;
    }
}

}  // namespace s80::model
