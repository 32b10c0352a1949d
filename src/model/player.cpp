// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/player.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace s80::model {

namespace {

constexpr std::int64_t kUnit = 256;
constexpr std::int64_t kNotSent = std::numeric_limits<std::int64_t>::min();
/// Events of a stream between a prefetch and its use in a placed window; there of the bus's side; and of the
/// events themselves.
constexpr std::ptrdiff_t kAhead = 4;
constexpr std::ptrdiff_t kBusAhead = 1;
constexpr std::ptrdiff_t kEventsAhead = 32;

}  // namespace

Player::Player(Hierarchy& hierarchy)
    : hierarchy_(hierarchy),
      cpi_(std::llround(hierarchy.machine().base_cpi * kUnit)),
      shared_cpi_(std::llround(hierarchy.machine().base_cpi * kUnit / hierarchy.machine().issue_share)),
      quantum_(static_cast<std::int64_t>(hierarchy.machine().quantum_cycles) * kUnit),
      longest_lead_(static_cast<std::int64_t>(hierarchy.machine().clock_hz) * kUnit / 1000 * kLongestLeadMs),
      threads_per_core_(hierarchy.machine().threads_per_core),
      awake_from_(hierarchy.machine().processors, 0),
      lead_(hierarchy.machine().processors, 0),
      base_(hierarchy.machine().cores(), 0),
      part_(hierarchy.machine().processors, 0) {}

std::uint64_t Player::clock_ns() const {
    __extension__ typedef unsigned __int128 Wide;  // cycles times 10^9 outgrow 64 bits after a minute
    const auto ns = static_cast<Wide>(cycles_) * 1'000'000'000U /
                    (static_cast<Wide>(hierarchy_.machine().clock_hz) * kUnit);
    return idle_ns_ + static_cast<std::uint64_t>(ns);
}

void Player::set_clock(const Clock& clock) {
    cycles_ = clock.cycles;
    idle_ns_ = clock.idle_ns;
    awake_from_ = clock.awake_from;
    lead_ = clock.lead;
    base_ = clock.base;
}

void Player::play(const Window& window) {
    begin(window);
    for (Observer* const observer : observers_) {
        observer->begin(window);
    }
    if (!observers_.empty()) {
        window.placed ? merge<true, true>() : merge<false, true>();
    } else {
        window.placed ? merge<true, false>() : merge<false, false>();
    }
    if (std::any_of(cursors_.begin(), cursors_.end(), [](const Cursor& c) { return c.blocked; })) {
        throw Error("a processor waits for an interrupt that was never sent: the recorded epoch is corrupt");
    }
    advance(window);
    count(window);
    for (Observer* const observer : observers_) {
        observer->end(window);
    }
}

void Player::begin(const Window& window) {
    if (window.idle_before_ns != 0) {
        idle_ns_ += window.idle_before_ns;
        std::fill(awake_from_.begin(), awake_from_.end(), 0);
        constexpr std::int64_t kNsAMs = 1'000'000;
        const auto gap = static_cast<std::int64_t>(
            std::min<std::uint64_t>(window.idle_before_ns, kLongestLeadMs * kNsAMs));
        for (std::int64_t& lead : lead_) {
            lead = std::max<std::int64_t>(lead - longest_lead_ / kLongestLeadMs * gap / kNsAMs, 0);
        }
    }
    cursors_.clear();
    turns_.clear();
    sent_.assign(window.signals, kNotSent);
    for (unsigned p = 0; p < window.streams.size(); ++p) {
        const Stream& stream = window.streams[p];
        Cursor cursor;
        cursor.core = p / threads_per_core_;
        cursor.runs_on = stream.runs_on;
        cursor.done = !stream.ran;
        cursor.quiet(0, awake_from_[p]);
        stream.each_used([&](Context context) { cursor.of_tail = context; });
        if (stream.ran) {
            cursor.at = stream.events.data();
            cursor.end = cursor.at + stream.size;
            cursor.tail = stream.tail;
            cursor.clock = cursor.idle = awake_from_[p];
            turns_.add(p, cursor.clock);
            const Event* const soon = cursor.at + std::min(kAhead, cursor.end - cursor.at);
            for (const Event* e = cursor.at; window.placed && e != soon; ++e) {
                hierarchy_.prefetch(cursor.core, e->line, static_cast<Kind>(e->op));
            }
        }
        cursors_.push_back(cursor);
    }
}

/// Always goes on with the processor whose clock is lowest, until it is a quantum ahead of the next.
template <bool kPlaced, bool kObserved, bool kShared>
void Player::turns() {
    while (!turns_.empty()) {
        const unsigned p = turns_.take();
        run<kPlaced, kObserved, kShared>(p, turns_.next() + quantum_);
        const Cursor& cursor = cursors_[p];
        if (!cursor.done && !cursor.blocked) {
            turns_.add(p, std::max(cursor.turn, cursor.clock));
        }
    }
}

template <bool kPlaced, bool kObserved>
void Player::merge() {
    shared_cpi_ != cpi_ ? turns<kPlaced, kObserved, true>() : turns<kPlaced, kObserved, false>();
}

/// How long an instruction takes that begins then. Only two threads share a core.
template <bool kShared>
inline std::int64_t Player::cpi_at(unsigned processor, std::int64_t moment) const {
    return kShared && cursors_[processor ^ 1U].issues(moment) ? shared_cpi_ : cpi_;
}

void Player::wait_for_issue(unsigned processor, Context context, std::int64_t parts) {
    std::int64_t& part = part_[processor];
    part += parts;
    hierarchy_.lost(cursors_[processor].core, context, Service::issue,
                    static_cast<std::uint64_t>(part / kUnit));
    part %= kUnit;
}

/// Has the host fetch what the events after `at` will need. Only in a placed window, where nearly every one
/// leaves the L1: where most hit, to look ahead costs as much as it saves.
template <bool kPlaced>
inline void Player::look_ahead(const Cursor& cursor, const Event* at) const {
    prefetch(at + kEventsAhead);
    const std::ptrdiff_t left = cursor.end - at;
    if (kPlaced && left > kAhead) {
        hierarchy_.prefetch(cursor.core, at[kAhead].line, static_cast<Kind>(at[kAhead].op));
    }
    if (kPlaced && left > kBusAhead && at[kBusAhead].op <= Op::walk) {
        hierarchy_.prefetch_bus(cursor.core, at[kBusAhead].line, static_cast<Kind>(at[kBusAhead].op));
    }
}

/// Plays one processor up to `until`, or until it waits, or its stream ends. The turn ends at that moment,
/// whether or not there is an event: so the order in which processors play does not depend on events that an
/// L1 absorbs, and a filtered capture replays in the order of its run. Events without instructions between
/// them are of one block, which is not divided: nobody plays between the load and the store of a
/// read-modify-write.
template <bool kPlaced, bool kObserved, bool kShared>
void Player::run(unsigned processor, std::int64_t until) {
    Cursor& cursor = cursors_[processor];
    const unsigned core = cursor.core;
    const Hierarchy::L1s l1s = hierarchy_.l1s(core);  // a copy: no store can change it
    const auto window_begin = static_cast<std::int64_t>(cycles_);
    const Event* const end = cursor.end;
    const Event* at = cursor.at;
    std::int64_t clock = cursor.clock;
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
        look_ahead<kPlaced>(cursor, at);
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
        if (event.op <= Op::walk) {
            const Kind kind = static_cast<Kind>(event.op);
            if constexpr (kPlaced) {
                hierarchy_.now(window_begin + clock);
                clock += kUnit * hierarchy_.access_placed(core, event.line, kind, event.context, event.way);
            } else if (!l1s.satisfy(event.line, kind)) {
                hierarchy_.now(window_begin + clock);
                clock += kUnit * hierarchy_.access(core, event.line, kind, event.context);
            }
            if (kShared && clock != when) {
                cursor.quiet(when, clock);
            }
        } else if (event.op == Op::signal) {
            if (signal(event.line, clock)) {
                cursor.turn = clock;
                break;  // the one that it woke may be behind now: choose again
            }
        } else if (event.op == Op::wait) {
            if (sent(event.line) == kNotSent) {
                cursor.blocked = true;
                cursor.waits_for = event.line;
                break;
            }
            const std::int64_t woken = std::max(clock, sent(event.line));
            cursor.idle += woken - clock;
            cursor.quiet(clock, woken);
            clock = woken;
        } else if (event.op >= Op::device_read) {
            hierarchy_.now(window_begin + clock);
            event.op == Op::device_read ? hierarchy_.device_read(event.line)
                                        : hierarchy_.device_write(event.line);
        }
    }
    const std::int64_t cpi = cpi_at<kShared>(processor, clock);
    const auto tail = static_cast<std::int64_t>(cursor.tail) * cpi;
    if (at == end && !cursor.blocked && clock + tail <= until) {
        if (kShared && cpi != cpi_) {
            wait_for_issue(processor, cursor.of_tail, static_cast<std::int64_t>(cursor.tail) * (cpi - cpi_));
        }
        clock += tail;
        instructions += cursor.tail;
        cursor.done = true;
    }
    base_[core] += instructions * static_cast<std::uint64_t>(cpi_);
    cursor.at = at;
    cursor.clock = clock;
}

/// When that interrupt of the window was sent, or kNotSent.
std::int64_t& Player::sent(std::uint32_t number) {
    if (number >= sent_.size()) {
        throw Error("an epoch with " + std::to_string(sent_.size()) +
                    " interrupts has an event with number " + std::to_string(number) +
                    ": the recorded epoch is corrupt");
    }
    return sent_[number];
}

/// Returns whether a processor that waited for it goes on.
bool Player::signal(std::uint32_t number, std::int64_t when) {
    sent(number) = when;
    bool woke = false;
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        Cursor& c = cursors_[p];
        if (c.blocked && c.waits_for == number) {
            c.blocked = false;
            c.idle += std::max<std::int64_t>(when - c.clock, 0);
            c.quiet(c.clock, std::max(c.clock, when));
            c.clock = std::max(c.clock, when);
            turns_.add(p, c.clock);
            woke = true;
        }
    }
    return woke;
}

/// The window lasted as long as the processors that run on needed on average (one that had no turn in it
/// needed nothing: a window may end within a round); when all sleep at its end, as long as the last one. Who
/// needs more than that time after time has a growing lead: at its bound, the clock waits for it.
void Player::advance(const Window& window) {
    std::int64_t sum = 0;
    std::int64_t last = *std::max_element(awake_from_.begin(), awake_from_.end());
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        if (window.streams[p].ran) {
            sum += window.streams[p].runs_on ? cursors_[p].clock : 0;
            last = std::max(last, cursors_[p].clock);
        }
    }
    const auto run_on = std::count_if(window.streams.begin(), window.streams.end(),
                                      [](const Stream& s) { return s.runs_on; });
    std::int64_t length = run_on != 0 ? sum / run_on : last;
    for (unsigned p = 0; p < cursors_.size(); ++p) {
        lead_[p] += cursors_[p].clock - cursors_[p].idle;
        length = std::max(length, lead_[p] - longest_lead_);
    }
    for (std::int64_t& lead : lead_) {
        lead = std::max<std::int64_t>(lead - length, 0);
    }
    cycles_ += static_cast<std::uint64_t>(length);
    hierarchy_.window_ended(static_cast<std::int64_t>(cycles_));
    for (unsigned p = 0; p < awake_from_.size(); ++p) {
        if (window.streams[p].ran) {
            awake_from_[p] = cursors_[p].clock;
        }
        const std::int64_t beyond = window.streams[p].runs_on ? 0 : awake_from_[p] - length;
        awake_from_[p] = std::max<std::int64_t>(beyond, 0);
    }
}

void Player::count(const Window& window) {
    Statistics& stats = hierarchy_.stats();
    const auto classes = stats.values(Stat::instruction_class);
    for (unsigned p = 0; window.counted && p < window.streams.size(); ++p) {
        const Stream& stream = window.streams[p];
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
    if (window.mark == Mark::none) {
        return;
    }
    const auto transactions = stats.values(Stat::transactions);
    for (unsigned t = 0; t < kTransactionTypes; ++t) {
        std::copy(window.transactions[t].begin(), window.transactions[t].end(),
                  transactions.begin() + t * kOutcomes);
    }
    std::copy(window.turns.turns.begin(), window.turns.turns.end(), stats.values(Stat::turns).begin());
    std::copy(window.turns.instructions.begin(), window.turns.instructions.end(),
              stats.values(Stat::turn_instructions).begin());
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
