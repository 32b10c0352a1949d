// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/player.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace s80::model {

namespace {

constexpr std::int64_t kUnit = 256;
constexpr std::int64_t kNotSent = std::numeric_limits<std::int64_t>::min();
/// Events between a prefetch and its use.
constexpr std::size_t kAhead = 8;

}  // namespace

Player::Player(Hierarchy& hierarchy)
    : hierarchy_(hierarchy),
      cpi_(std::llround(hierarchy.machine().base_cpi * kUnit)),
      quantum_(static_cast<std::int64_t>(hierarchy.machine().quantum_cycles) * kUnit),
      threads_per_core_(hierarchy.machine().threads_per_core),
      awake_from_(hierarchy.machine().processors, 0),
      base_(hierarchy.machine().cores(), 0) {}

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
    base_ = clock.base;
}

void Player::play(const Window& window) {
    begin(window);
    for (;;) {
        Cursor* first = nullptr;
        std::int64_t second = std::numeric_limits<std::int64_t>::max() - quantum_;
        for (Cursor& c : cursors_) {
            if (c.done || c.blocked) {
                continue;
            }
            if (first == nullptr || c.clock < first->clock) {
                if (first != nullptr) {
                    second = std::min(second, first->clock);
                }
                first = &c;
            } else {
                second = std::min(second, c.clock);
            }
        }
        if (first == nullptr) {
            break;
        }
        run(*first, window.streams[first->processor], second + quantum_);
    }
    if (std::any_of(cursors_.begin(), cursors_.end(), [](const Cursor& c) { return !c.done; })) {
        throw Error("a processor waits for an interrupt that was never sent: the recorded window is wrong");
    }
    advance(window);
    count(window);
    if (observer_ != nullptr) {
        observer_->end(window);
    }
}

void Player::begin(const Window& window) {
    if (window.idle_before_ns != 0) {
        idle_ns_ += window.idle_before_ns;
        std::fill(awake_from_.begin(), awake_from_.end(), 0);
    }
    cursors_.clear();
    sent_.assign(window.signals, kNotSent);
    for (unsigned p = 0; p < window.streams.size(); ++p) {
        const Stream& stream = window.streams[p];
        if (stream.ran) {
            Cursor cursor;
            cursor.processor = p;
            cursor.clock = awake_from_[p];
            cursors_.push_back(cursor);
        }
    }
}

/// Plays one processor until its clock passes `until`, it waits, or its stream ends.
void Player::run(Cursor& cursor, const Stream& stream, std::int64_t until) {
    const unsigned core = cursor.processor / threads_per_core_;
    std::int64_t clock = cursor.clock;
    std::uint64_t instructions = 0;
    std::size_t at = cursor.at;
    const Event* const events = stream.events.data();
    while (at < stream.size && clock <= until) {
        const Event event = events[at];
        ++at;
        const Event& soon = events[std::min(at + kAhead, stream.size - 1)];
        hierarchy_.prefetch(core, soon.line, static_cast<Kind>(soon.op));
        clock += event.delta * cpi_;
        instructions += event.delta;
        if (observer_ != nullptr) [[unlikely]] {
            observer_->event(cursor.processor, event, clock);
        }
        if (event.op <= Op::walk) {
            clock += static_cast<std::int64_t>(
                         hierarchy_.access(core, event.line, static_cast<Kind>(event.op), event.context)) *
                     kUnit;
        } else if (event.op == Op::signal) {
            if (signal(event.line, clock)) {
                break;  // the one that it woke may be behind now: choose again
            }
        } else if (event.op == Op::wait) {
            if (sent_[event.line] == kNotSent) {
                cursor.blocked = true;
                cursor.waits_for = event.line;
                break;
            }
            clock = std::max(clock, sent_[event.line]);
        }
    }
    if (at == stream.size && !cursor.blocked) {
        clock += static_cast<std::int64_t>(stream.tail) * cpi_;
        instructions += stream.tail;
        cursor.done = true;
    }
    base_[core] += instructions * static_cast<std::uint64_t>(cpi_);
    cursor.at = at;
    cursor.clock = clock;
}

/// Returns whether a processor that waited for it goes on.
bool Player::signal(std::uint32_t number, std::int64_t when) {
    sent_[number] = when;
    bool woke = false;
    for (Cursor& c : cursors_) {
        if (c.blocked && c.waits_for == number) {
            c.blocked = false;
            c.clock = std::max(c.clock, when);
            woke = true;
        }
    }
    return woke;
}

/// The window lasted as long as the processors that run on needed on average (one that had no turn in it
/// needed nothing: a window may end within a round); when all sleep at its end, as long as the last one.
void Player::advance(const Window& window) {
    std::int64_t sum = 0;
    std::int64_t last = *std::max_element(awake_from_.begin(), awake_from_.end());
    for (const Cursor& c : cursors_) {
        sum += window.streams[c.processor].runs_on ? c.clock : 0;
        last = std::max(last, c.clock);
    }
    const auto run_on = std::count_if(window.streams.begin(), window.streams.end(),
                                      [](const Stream& s) { return s.runs_on; });
    const std::int64_t length = run_on != 0 ? sum / run_on : last;
    cycles_ += static_cast<std::uint64_t>(length);
    for (const Cursor& c : cursors_) {
        awake_from_[c.processor] = c.clock;
    }
    for (unsigned p = 0; p < awake_from_.size(); ++p) {
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
        for (std::uint8_t c = 0; c < kContexts; ++c) {
            Context context;
            context.value = c;
            for (unsigned i = 0; i < kInstructionClasses; ++i) {
                classes[c * kInstructionClasses + i] += stream.classes[c][i];
            }
            stats.context(Stat::instructions, core, context) += stream.instructions[c];
            for (unsigned k = 0; k < kKinds; ++k) {
                stats.kind(Stat::accesses, core, context, static_cast<Kind>(k)) += stream.accesses[c][k];
            }
        }
    }
    if (window.mark == Mark::none) {
        return;
    }
    const auto transactions = stats.values(Stat::transactions);
    for (unsigned t = 0; t < kTransactionTypes; ++t) {
        std::copy(window.transactions[t].begin(), window.transactions[t].end(),
                  transactions.begin() + t * kOutcomes);
    }
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
