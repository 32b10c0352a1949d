// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/epoch_writer.h"

namespace s80::plugin {

using model::Event;
using model::Mark;
using model::Op;

EpochWriter::EpochWriter(const Lanes& lanes, WindowSink& sink, PhasePage& page, const Schedule& schedule,
                         const Totals& totals, std::size_t room)
    : lanes_(lanes), sink_(sink), page_(page), schedule_(schedule), room_(room), totals_(totals) {
    if (totals_.began) {
        schedule_.begin(totals_.instructions);
    }
}

std::uint32_t EpochWriter::add_signal(Lane& lane) {
    add(lane, Event::signal(window_->signals));
    return window_->signals++;
}

/// It is near the end of the stream: an access that conflicts with one of another processor is rarely an old
/// one.
template <class Wanted>
std::uint32_t EpochWriter::last(unsigned processor, model::Line line, Wanted&& wanted) const {
    const StreamEnd& stream = lanes_[processor]->stream;
    const Event* const begin = stream.stream->events.data();
    for (const Event* at = stream.next; at != begin;) {
        --at;
        if (at->line == line && wanted(at->op)) {
            return static_cast<std::uint32_t>(at - begin);
        }
    }
    throw model::Error("internal error: a conflicting access is not in its epoch");
}

std::uint32_t EpochWriter::last_store(unsigned processor, model::Line line) const {
    return last(processor, line, [](Op op) { return op == Op::store; });
}

std::uint32_t EpochWriter::last_load(unsigned processor, model::Line line) const {
    return last(processor, line, [](Op op) { return op == Op::load || op == Op::walk; });
}

/// The stream of `lane` has more than its share, or its next event has a very long delta.
void EpochWriter::grow(Lane& lane) {
    StreamEnd& to = lane.stream;
    std::vector<Event>& events = to.stream->events;
    const std::size_t size = to.position();
    const std::size_t needed = size + (lane.instructions - to.emitted_at) / model::kLongestDelta + 1;
    if (needed > events.size()) {
        events.resize(needed + room_);
    }
    to.next = events.data() + size;
    to.limit = events.data() + events.size();
    lane.check_at = 0;
    full_ = true;
}

void EpochWriter::open() {
    window_ = sink_.take();
    ++number_;
    window_->signals = 0;
    window_->idle_before_ns = 0;
    full_ = false;
    for (const auto& lane : lanes_) {
        model::Stream& stream = window_->streams[lane->processor];
        stream.clear_counts();
        if (stream.events.size() < room_) {
            stream.events.resize(room_);
        }
        Event* const begin = stream.events.data();
        // Not all of the storage, which depends on what else it has been used for.
        lane->stream = {begin, begin + room_, lane->instructions, &stream};
        lane->check_at = 0;
    }
}

void EpochWriter::close(Mark mark) {
    for (const auto& lane : lanes_) {
        lane->settle();
        model::Stream& stream = *lane->stream.stream;
        stream.size = lane->stream.position();
        stream.tail = lane->instructions - lane->stream.emitted_at;
        stream.ran = lane->share.ran(lane->instructions) || stream.size != 0;
        stream.runs_on = lane->awake();
    }
    window_->mark = mark;
    window_->index = schedule_.index();
    window_->instructions = total_instructions();
    if (mark != Mark::none) {
        window_->transactions = totals_.transactions;
        window_->clients_finished = totals_.finished.size();
        window_->slices = totals_.slices;
    }
    sink_.submit(std::move(window_));
}

void EpochWriter::begin_load() {
    totals_.began = true;
    schedule_.begin(total_instructions());
}

void EpochWriter::add_transaction(std::uint64_t type, std::uint64_t client, bool failed) {
    totals_.finished.insert(client);
    if (type < model::kTransactionTypes) {
        ++totals_.transactions[type][failed ? 1 : 0];
    }
}

std::uint64_t EpochWriter::total_instructions() const {
    std::uint64_t total = totals_.instructions;
    for (const auto& lane : lanes_) {
        total += lane->instructions;
    }
    return total;
}

}  // namespace s80::plugin
