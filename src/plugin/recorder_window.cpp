// SPDX-License-Identifier: GPL-2.0-or-later
// Windows: when one ends, what goes into it, and what the guest sees of the clock then.
#include "plugin/recorder.h"

namespace s80::plugin {

using model::Mark;

namespace {

/// Windows of fewer instructions are joined with the next round.
constexpr std::uint64_t kShortestWindow = 9'000;

}  // namespace

std::uint64_t Recorder::total_instructions() const {
    std::uint64_t total = base_instructions_;
    for (const auto& lane : lanes_) {
        total += lane->instructions;
    }
    return total;
}

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
    capture_.reset();
    snapshots_.reset();
}

}  // namespace s80::plugin
