// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/windows.h"

#include <algorithm>
#include <bit>

namespace s80::plugin {

using model::Kind;
using model::Mark;
using model::Op;
using model::Player;

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// Of its lead a processor makes up this part in an epoch. The lead is known two epochs late, so a larger
/// part would let it swing.
constexpr std::int64_t kMadeUp = 4;

}  // namespace

Windows::Windows(const model::Machine& machine, const Lanes& lanes, WindowSink& sink, PhasePage& page,
                 VirtualTime& time, unsigned clock_shift, const Schedule& schedule, const State& state,
                 std::size_t room)
    : machine_(machine),
      lanes_(lanes),
      sink_(sink),
      page_(page),
      schedule_(schedule),
      clock_(time, clock_shift, state.clock),
      room_(room),
      state_(state) {
    for (const auto& lane : lanes_) {
        if ((state_.sleeping >> lane->processor & 1) != 0) {
            lane->attention |= kHalted;
        }
    }
    open();
    if (state_.began) {
        schedule_.begin(state_.instructions);
        publish();
    }
}

std::uint64_t Windows::total_instructions() const {
    std::uint64_t total = state_.instructions;
    for (const auto& lane : lanes_) {
        total += lane->instructions;
    }
    return total;
}

void Windows::interrupt(Lane& lane, Lane& target) {
    if ((target.attention & kHalted) == 0 || target.wake_signal >= 0) {
        return;
    }
    add(lane, window_->signals, Op::signal);
    target.wake_signal = window_->signals++;
    target.wake_ns = lane.share.ns(lane.instructions);
}

void Windows::sleep(Lane& lane) {
    lane.attention |= kHalted;
    state_.sleeping |= 1U << lane.processor;
    const std::uint64_t ran = lane.instructions - slice_began_;
    count_slice();
    const std::uint32_t everyone = ~std::uint32_t{0} >> (model::kMaxCores - lanes_.size());
    if (state_.sleeping == everyone) {
        close(schedule_.due(total_instructions()));
        state_.gap_pending = true;
        clock_.sleep(ran);
        return;
    }
    close_if_used_up();
    clock_.end_slice(ran);
}

/// Timers and devices wake a processor at the beginning of an epoch. None wakes before it fell asleep.
void Windows::wake(Lane& lane) {
    state_.sleeping &= ~(1U << lane.processor);
    lane.attention &= ~static_cast<std::uint32_t>(kHalted);
    if (clock_.runs()) {
        const std::int64_t woken = lane.wake_signal >= 0 ? lane.wake_ns : 0;
        lane.share.begin_at(lane.instructions, std::max(lane.share.ns(lane.instructions), woken));
    }
    if (lane.wake_signal >= 0) {
        add(lane, static_cast<model::Line>(lane.wake_signal), Op::wait);
        lane.wake_signal = -1;
    }
}

bool Windows::begin_slice(Lane& next) {
    count_slice();  // if QEMU ended it
    if (start_clock_) {
        start_clock_ = false;
        clock_.start(sink_.known().clock_ns);
        close(schedule_.due(total_instructions()));
    }
    if (state_.gap_pending) {
        state_.gap_pending = false;
        window_->idle_before_ns += static_cast<std::uint64_t>(clock_.end_gap());
    }
    if ((next.attention & kHalted) != 0) {
        wake(next);
    }
    if (full_) {
        close(schedule_.due(total_instructions()));
    }
    if (next.instructions >= next.share.end) {
        close_if_used_up();
        // QEMU does not run a processor that has instructions left: it sleeps, but not by HLT.
        if (++skipped_ > 2 * lanes_.size()) {
            close(schedule_.due(total_instructions()));
        }
        if (next.instructions >= next.share.end) {
            return false;
        }
    }
    skipped_ = 0;
    running_ = &next;
    slice_began_ = next.instructions;
    next.slice_over = false;
    next.polls = false;
    clock_.begin_slice(next.share.ns(next.instructions), next.latest_ns);
    return true;
}

void Windows::count_slice() {
    if (running_ != nullptr) {
        const std::uint64_t ran = running_->instructions - slice_began_;
        state_.slices.add(ran);
        clock_.ran(ran, running_->latest_ns);
        running_ = nullptr;
    }
}

void Windows::end_slice() {
    if (running_ == nullptr) {
        return;
    }
    const std::uint64_t ran = running_->instructions - slice_began_;
    count_slice();
    if (full_) {
        close(schedule_.due(total_instructions()));
    } else {
        close_if_used_up();
    }
    clock_.end_slice(ran);
}

/// Ends the epoch if nobody who is awake has instructions left.
void Windows::close_if_used_up() {
    const bool left = std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) {
        return lane->bound() && (lane->attention & kHalted) == 0 && lane->instructions < lane->share.end;
    });
    if (!left) {
        close(schedule_.due(total_instructions()));
    }
}

void Windows::access(Lane& lane, model::Line line, Kind kind) {
    const auto position = [&lane] {
        return static_cast<std::uint32_t>(lane.out - lane.stream->events.data());
    };
    const std::uint32_t expected = position();
    Conflicts::Found found = kind == Kind::store ? conflicts_.store(lane.processor, line, expected)
                                                 : conflicts_.load(lane.processor, line);
    if (found.storer != Conflicts::Found::kNobody || found.readers != 0) [[unlikely]] {
        if (found.storer != Conflicts::Found::kNobody) {
            wait_for(lane, found.storer, found.stored_at);
        }
        for (; found.readers != 0; found.readers &= found.readers - 1) {
            const auto reader = static_cast<unsigned>(std::countr_zero(found.readers));
            wait_for(lane, reader, last_read(reader, line));
        }
    }
    add(lane, line, static_cast<Op>(kind));
    if (kind == Kind::store && position() != expected + 1) [[unlikely]] {
        conflicts_.moved(line, position() - 1);
    }
    if (found.transfers || (found.contended && lane.polls)) [[unlikely]] {
        lane.slice_over = true;
        lane.check_at = 0;
    }
}

void Windows::wait_for(Lane& lane, unsigned earlier, std::uint32_t position) {
    std::uint32_t& until = lane.waits_until[earlier];
    if (position < until) {
        return;
    }
    until = position + 1;
    orders_.push_back({lane.processor, 0, earlier, position});
    add(lane, 0, Op::after);
    orders_.back().position = static_cast<std::size_t>(lane.out - lane.stream->events.data()) - 1;
    lanes_[earlier]->awaited.push_back(position);
}

/// Position of a processor's last load of the line in this epoch. It is near the end of the stream: a load
/// that a store of another processor makes stale is rarely an old one.
std::uint32_t Windows::last_read(unsigned processor, model::Line line) const {
    const Lane& lane = *lanes_[processor];
    const model::Event* const begin = lane.stream->events.data();
    for (const model::Event* at = lane.out; at != begin;) {
        --at;
        if (at->line == line && (at->op == Op::load || at->op == Op::walk)) {
            return static_cast<std::uint32_t>(at - begin);
        }
    }
    throw model::Error("internal error: a conflicting load is not in its epoch");
}

/// Names in each edge the number of the awaited event, and marks these events.
void Windows::number_edges() {
    for (const auto& lane : lanes_) {
        std::vector<std::uint32_t>& awaited = lane->awaited;
        std::sort(awaited.begin(), awaited.end());
        awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
        for (const std::uint32_t position : awaited) {
            lane->stream->events[position].awaited = 1;
        }
    }
    for (const Order& order : orders_) {
        const std::vector<std::uint32_t>& awaited = lanes_[order.earlier]->awaited;
        const auto at = std::lower_bound(awaited.begin(), awaited.end(), order.until);
        lanes_[order.processor]->stream->events[order.position].line =
            model::Edge{order.earlier, static_cast<std::uint32_t>(at - awaited.begin())}.word();
    }
    orders_.clear();
}

/// The stream of `lane` has more than its share, or its next event has a very long delta.
void Windows::grow(Lane& lane) {
    std::vector<model::Event>& events = lane.stream->events;
    const auto size = static_cast<std::size_t>(lane.out - events.data());
    const std::size_t needed = size + (lane.instructions - lane.emitted_at) / model::kLongestDelta + 1;
    if (needed > events.size()) {
        events.resize(needed + room_);
    }
    lane.out = events.data() + size;
    lane.out_end = events.data() + events.size();
    lane.check_at = 0;
    full_ = true;
}

void Windows::begin_load() {
    state_.began = true;
    schedule_.begin(total_instructions());
    close(Mark::load_begin);
}

void Windows::finish() {
    count_slice();
    close(Mark::exit);
}

void Windows::transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
    state_.finished.insert(client);
    if (type < model::kTransactionTypes) {
        ++state_.transactions[type][failed ? 1 : 0];
    }
}

void Windows::close(Mark mark) {
    for (const auto& lane : lanes_) {
        lane->settle();
        model::Stream& s = *lane->stream;
        s.size = static_cast<std::size_t>(lane->out - s.events.data());
        s.tail = lane->instructions - lane->emitted_at;
        s.ran = lane->instructions != lane->window_start || s.size != 0;
        s.runs_on = lane->bound() && (lane->attention & kHalted) == 0;
        lane->emitted_at = lane->instructions;
    }
    number_edges();
    lengths_in_flight_ = {lengths_in_flight_[1], predicted_ns()};
    window_->mark = mark;
    window_->index = schedule_.index();
    window_->instructions = total_instructions();
    if (mark != Mark::none) {
        window_->transactions = state_.transactions;
        window_->clients_finished = state_.finished.size();
        window_->slices = state_.slices;
    }
    idle_in_flight_ = {idle_in_flight_[1], window_->idle_before_ns};
    sink_.submit(std::move(window_));
    open();
    publish();
}

/// The length of the epoch that ends now, by the same rule as in model::Player: the mean of what the
/// processors that are awake needed; if none is, what the last one needed.
std::int64_t Windows::predicted_ns() const {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    std::int64_t awake = 0;
    for (const auto& lane : lanes_) {
        if (!lane->bound()) {
            continue;
        }
        const std::int64_t ns = lane->share.ns(lane->instructions);
        if ((lane->attention & kHalted) == 0) {
            sum += ns;
            ++awake;
        } else if (lane->instructions != lane->window_start) {
            longest = std::max(longest, ns);
        }
    }
    return awake != 0 ? sum / awake : longest;
}

/// What the processor executes in an epoch at its recent speed. If it is ahead of simulated time it gets
/// less.
void Windows::share(Lane& lane, const Player::Pace& pace) {
    const auto epoch = static_cast<std::int64_t>(machine_.epoch_cycles) * Player::kUnit;
    const auto base = static_cast<std::uint64_t>(machine_.base_cpi * static_cast<double>(Player::kUnit));
    const std::uint64_t cpi = pace.instructions != 0 ? std::max(pace.cpi(), base) : 2 * base;
    const auto cycles =
        static_cast<std::uint64_t>(std::clamp(epoch - pace.lead / kMadeUp, std::int64_t{0}, 2 * epoch));
    const auto most = static_cast<std::uint64_t>(epoch) / base;
    Share& share = lane.share;
    share.instructions = std::clamp<std::uint64_t>(cycles / cpi, 1, std::max<std::uint64_t>(most, 1));
    const std::uint64_t epoch_ns =
        static_cast<std::uint64_t>(machine_.epoch_cycles) * kNsPerSecond / machine_.clock_hz;
    share.rate = (epoch_ns << Share::kRateBits) / share.instructions;
    // What it executed beyond its last share, or did not, is carried over.
    share.begin = clock_.runs() && share.end != Lane::kNever
                      ? std::min(share.end, lane.instructions + share.instructions)
                      : lane.instructions;
    share.end = clock_.runs() ? share.begin + share.instructions : Lane::kNever;
}

void Windows::open() {
    window_ = sink_.take();
    ++number_;
    window_->signals = 0;
    window_->idle_before_ns = 0;
    full_ = false;
    conflicts_.next_epoch();
    const WindowSink::Known& known = sink_.known();
    for (const auto& lane : lanes_) {
        model::Stream& s = window_->streams[lane->processor];
        s.clear_counts();
        if (s.events.size() < room_) {
            s.events.resize(room_);
        }
        lane->stream = &s;
        lane->out = s.events.data();
        // Not all of the storage, which depends on what else it has been used for.
        lane->out_end = lane->out + room_;
        lane->window_start = lane->instructions;
        lane->wake_signal = -1;
        lane->awaited.clear();
        lane->waits_until.fill(0);
        share(*lane, known.paces[lane->processor]);
        lane->check_at = 0;
    }
    clock_.begin_epoch(known.clock_ns, static_cast<std::int64_t>(idle_in_flight_[0] + idle_in_flight_[1]) +
                                           lengths_in_flight_[0] + lengths_in_flight_[1]);
}

}  // namespace s80::plugin
