// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/windows.h"

#include <algorithm>

namespace s80::plugin {

using model::Mark;
using model::Op;

namespace {

/// Windows of fewer instructions are joined with the next round.
constexpr std::uint64_t kShortestWindow = 9'000;
/// A turn is cut here, so that the modelled clock moves while one processor runs: soon when it runs
/// alone (nobody could interleave with it), late otherwise.
constexpr std::uint64_t kLongestAlone = 50'000;
constexpr std::uint64_t kLongestTurn = 1'000'000;

}  // namespace

Windows::Windows(const Lanes& lanes, WindowSink& sink, ClockPage& page, const Schedule& schedule,
                 const State& state, std::size_t room)
    : lanes_(lanes), sink_(sink), page_(page), schedule_(schedule), room_(room), state_(state) {
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
}

void Windows::sleep(Lane& lane) {
    lane.attention |= kHalted;
    state_.sleeping |= 1U << lane.processor;
    const std::uint32_t everyone = ~std::uint32_t{0} >> (model::kMaxCores - lanes_.size());
    if (state_.sleeping == everyone) {
        close(schedule_.due(total_instructions()));
        state_.gap_pending = true;
    }
}

void Windows::wake(Lane& lane) {
    state_.sleeping &= ~(1U << lane.processor);
    lane.attention &= ~static_cast<std::uint32_t>(kHalted);
    if (lane.wake_signal >= 0) {
        add(lane, static_cast<model::Line>(lane.wake_signal), Op::wait);
        lane.wake_signal = -1;
    }
}

void Windows::begin_turn(Lane& next) {
    end_turn();
    const bool round_ended = running_ != nullptr && next.processor <= running_->processor;
    if (full_ || round_ended) {
        const std::uint64_t total = total_instructions();
        if (full_ || total - began_ >= kShortestWindow) {
            close(schedule_.due(total));
        }
    }
    running_ = &next;
    turn_began_ = next.instructions;
    add(next, ++turn_, Op::turn);
}

void Windows::end_turn() {
    if (running_ != nullptr) {
        state_.turns.add(running_->instructions - turn_began_);
    }
}

/// Whether no more than one processor has run in the window.
bool Windows::alone() const {
    return std::count_if(lanes_.begin(), lanes_.end(),
                         [](const auto& lane) { return lane->instructions != lane->window_start; }) <= 1;
}

void Windows::limit_turn(const Lane& lane) {
    const std::uint64_t ran = lane.instructions - lane.window_start;
    if (full_ || ran > kLongestTurn || (ran > kLongestAlone && alone_before_ && alone())) {
        close(schedule_.due(total_instructions()));
    }
}

/// The stream of `lane` has more than its share, or its next event has a very long delta.
void Windows::grow(Lane& lane) {
    std::vector<model::Event>& events = lane.stream->events;
    const auto size = static_cast<std::size_t>(lane.out - events.data());
    const std::size_t needed = size + (lane.instructions - lane.emitted_at) / kLongestDelta + 1;
    if (needed > events.size()) {
        events.resize(needed + room_);
    }
    lane.out = events.data() + size;
    lane.out_end = events.data() + events.size();
    lane.slice_end = 0;  // asks for limit_turn with its next block
    full_ = true;
}

void Windows::begin_load() {
    state_.began = true;
    schedule_.begin(total_instructions());
    close(Mark::load_begin);
}

void Windows::finish() {
    end_turn();
    close(Mark::exit);
}

void Windows::end_gap(std::uint64_t ns) {
    state_.gap_pending = false;
    if (ns != 0) {
        window_->idle_before_ns += ns;
        publish();
    }
}

void Windows::transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
    state_.finished.insert(client);
    if (type < model::kTransactionTypes) {
        ++state_.transactions[type][failed ? 1 : 0];
    }
}

/// The guest sees the clock of two windows ago and every idle gap since: their lengths are known at once.
void Windows::publish() {
    const std::uint64_t idle = idle_in_flight_[0] + idle_in_flight_[1] + window_->idle_before_ns;
    page_.publish(sink_.clock_ns() + idle, static_cast<std::uint64_t>(schedule_.phase()));
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
    alone_before_ = alone();
    window_->mark = mark;
    window_->index = schedule_.index();
    window_->instructions = total_instructions();
    if (mark != Mark::none) {
        window_->transactions = state_.transactions;
        window_->clients_finished = state_.finished.size();
        window_->turns = state_.turns;
    }
    idle_in_flight_ = {idle_in_flight_[1], window_->idle_before_ns};
    sink_.submit(std::move(window_));
    open();
    publish();
}

void Windows::open() {
    window_ = sink_.take();
    ++number_;
    window_->signals = 0;
    window_->idle_before_ns = 0;
    began_ = total_instructions();
    full_ = false;
    turn_ = 0;
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
    }
}

}  // namespace s80::plugin
