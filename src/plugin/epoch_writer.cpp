// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/epoch_writer.h"

namespace s80::plugin {

using model::Event;
using model::Mark;
using model::Op;

EpochWriter::EpochWriter(const VcpuList& vcpus, EpochSink& sink, PhasePage& page, const Schedule& schedule,
                         const Totals& totals, std::size_t room)
    : vcpus_(vcpus), sink_(sink), page_(page), schedule_(schedule), room_(room), totals_(totals) {
    if (totals_.began) {
        schedule_.begin(totals_.instructions);
    }
}

std::uint32_t EpochWriter::add_signal(Vcpu& vcpu) {
    add(vcpu, Event::signal(epoch_->signals));
    return epoch_->signals++;
}

/// Returns the position of the last event with this line whose operation `wanted` accepts. Searches
/// backwards, because most conflicts are with a recent access.
template <class Wanted>
std::uint32_t EpochWriter::last(unsigned processor, model::Line line, Wanted&& wanted) const {
    const StreamEnd& stream = vcpus_[processor]->stream;
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

/// Appends an event if its delta may be too long for one event, or if the stream is full. A delta that is too
/// long is carried by passes before the event.
void EpochWriter::add_far(Vcpu& vcpu, Event event, std::uint64_t delta) {
    using model::kLongestDelta;
    StreamEnd& to = vcpu.stream;
    if (static_cast<std::uint64_t>(to.limit - to.next) <= delta / kLongestDelta) {
        grow(vcpu);
    }
    for (; delta > kLongestDelta; delta -= kLongestDelta) {
        *to.next++ = Event::pass().after_instructions(kLongestDelta, vcpu.context);
    }
    *to.next++ = event.after_instructions(delta, vcpu.context);
    to.emitted_at = vcpu.instructions;
}

/// Grows the stream so that the next event of `vcpu` fits, with the passes before it. Makes the epoch end
/// before the next block.
void EpochWriter::grow(Vcpu& vcpu) {
    StreamEnd& to = vcpu.stream;
    std::vector<Event>& events = to.stream->events;
    const std::size_t size = to.position();
    const std::size_t needed = size + (vcpu.instructions - to.emitted_at) / model::kLongestDelta + 1;
    if (needed > events.size()) {
        events.resize(needed + room_);
    }
    to.next = events.data() + size;
    to.limit = events.data() + events.size();
    vcpu.check_at = 0;
    full_ = true;
}

void EpochWriter::open() {
    epoch_ = sink_.take();
    ++number_;
    epoch_->signals = 0;
    epoch_->idle_before_ns = 0;
    full_ = false;
    for (const auto& vcpu : vcpus_) {
        model::Stream& stream = epoch_->streams[vcpu->processor];
        stream.clear_counts();
        if (stream.events.size() < room_) {
            stream.events.resize(room_);
        }
        Event* const begin = stream.events.data();
        // The limit is `room_`, not the size of the storage: the storage may have grown in an earlier epoch,
        // and where an epoch ends must not depend on that.
        vcpu->stream = {begin, begin + room_, vcpu->instructions, &stream};
        vcpu->check_at = 0;
    }
}

void EpochWriter::close(Mark mark) {
    for (const auto& vcpu : vcpus_) {
        vcpu->settle();
        model::Stream& stream = *vcpu->stream.stream;
        stream.size = vcpu->stream.position();
        stream.tail = vcpu->instructions - vcpu->stream.emitted_at;
        stream.ran = vcpu->share.ran(vcpu->instructions) || stream.size != 0;
        stream.runs_on = vcpu->awake();
    }
    epoch_->mark = mark;
    epoch_->index = schedule_.index();
    epoch_->instructions = total_instructions();
    if (mark != Mark::none) {
        epoch_->transactions = totals_.transactions;
        epoch_->clients_finished = totals_.finished.size();
        epoch_->slices = totals_.slices;
    }
    sink_.submit(std::move(epoch_));
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
    for (const auto& vcpu : vcpus_) {
        total += vcpu->instructions;
    }
    return total;
}

}  // namespace s80::plugin
