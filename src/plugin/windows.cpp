// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/windows.h"

#include <algorithm>
#include <limits>

namespace s80::plugin {

using model::Event;
using model::Kind;
using model::Mark;
using model::Op;
using model::Player;

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
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
/// A loop that polls until a time reads the clock at least once in so many instructions.
constexpr std::uint64_t kWatches = 1'000;
/// In blocks that may access a disputed line, a contender does not get ahead of the next one. In others it
/// gets ahead by a quantum, as in the timing merger. Otherwise time slices would be very short.
constexpr std::int64_t kAhead = 1;
/// In blocks of the kernel a contender gets so many cycles ahead, far fewer than the transfer of a line
/// takes. (1 cycle would need a third more time slices for a mail server.)
constexpr std::int64_t kKernelAhead = 16;
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

bool awake(const Lane& lane) {
    return lane.bound() && (lane.attention & kHalted) == 0;
}
/// Whether the processor has instructions to execute in this epoch.
bool has_left(const Lane& lane) {
    return awake(lane) && (!lane.parked || lane.must_poll) && lane.instructions < lane.share.end();
}

}  // namespace

Windows::Windows(const model::Machine& machine, const Lanes& lanes, WindowSink& sink, PhasePage& page,
                 VirtualTime& time, Round& round, std::size_t lines, unsigned clock_shift,
                 const Schedule& schedule, const State& state, std::size_t room)
    : machine_(machine),
      lanes_(lanes),
      sink_(sink),
      page_(page),
      schedule_(schedule),
      clock_(time, clock_shift, state.clock),
      round_(round),
      conflicts_(lines, [this](unsigned p, model::Line line) { return last(Access::store, p, line); }),
      room_(room),
      longest_wait_(Player::longest_wait(machine)),
      state_(state) {
    for (const auto& lane : lanes_) {
        if (state_.sleeping.has(lane->processor)) {
            lane->attention |= kHalted;
        }
    }
    open(0);
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
    if (target.parked) {
        resume(target, lane.share.time(lane.instructions));
        end_before_next_block(lane);
    }
    if ((target.attention & kHalted) == 0 || target.wake_signal >= 0) {
        return;
    }
    add(lane, Event::signal(window_->signals));
    target.wake_signal = window_->signals++;
    target.wake_time = lane.share.time(lane.instructions);
    end_before_next_block(lane);  // the other one executes from this time on
}

void Windows::interrupt_all(Lane& lane) {
    for (const auto& target : lanes_) {
        if (target->parked) {
            resume(*target, lane.share.time(lane.instructions));
            end_before_next_block(lane);
        }
    }
}

void Windows::sleep(Lane& lane) {
    lane.attention |= kHalted;
    state_.sleeping.add(lane.processor);
    const std::uint64_t ran = lane.instructions - slice_began_;
    count_slice();
    if (stays_ == nullptr) {
        take_in_all();
    }
    if (state_.sleeping == model::CoreSet::below(static_cast<unsigned>(lanes_.size()))) {
        close(schedule_.due(total_instructions()));
        state_.gap_pending = true;
        clock_.sleep(ran);
        return;
    }
    close_if_used_up();
    clock_.end_slice(ran);
}

/// Timers and devices wake a processor at the beginning of an epoch. None wakes before it fell asleep. Timer
/// interrupts of several processors are often simultaneous, and access the same lines of the kernel.
void Windows::wake(Lane& lane) {
    state_.sleeping.remove(lane.processor);
    lane.attention &= ~static_cast<std::uint32_t>(kHalted);
    if (lane.wake_signal < 0) {
        lane.contends_until = lane.instructions + kContends;
    }
    if (clock_.runs()) {
        const std::int64_t woken = lane.wake_signal >= 0 ? lane.wake_time : 0;
        lane.share.set(lane.instructions, std::max(lane.share.time(lane.instructions), woken));
    }
    if (lane.wake_signal >= 0) {
        add(lane, Event::wait(static_cast<std::uint32_t>(lane.wake_signal)));
        lane.wake_signal = -1;
    }
}

bool Windows::begin_slice(Lane& next, const void* registers) {
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
    if (registers != nullptr && !next.parked && next.loop_returned(registers)) {
        next.iteration = next.loop.iteration(next.executed());
        next.parked = true;
        next.must_poll = false;
        take_in_whose_turn_it_is();  // nobody waits for it any more
    }
    if (!has_left(next)) {
        close_if_used_up();
        // QEMU does not run a processor that has instructions left: it sleeps, but not by HLT.
        if (++skipped_ > 2 * lanes_.size()) {
            close(schedule_.due(total_instructions()));
        }
        if (!has_left(next)) {
            skip(next);
            return false;
        }
    }
    const std::int64_t until = executes_until(next, all_contend());
    if (next.share.time(next.instructions) > until && ++skipped_ <= 2 * lanes_.size()) {
        skip(next);
        return false;
    }
    skipped_ = 0;
    if (stays_ == &next) {
        stays_ = nullptr;
    }
    if (next.parked) {
        next.parked = false;
        next.paused = true;  // it waits for a store
    }
    running_ = &next;
    slice_began_ = next.instructions;
    slice_until_ = until;
    next.poll_stored = next.paused && next.stored;
    next.may_poll = !next.stored && next.contends() && next.context.entry() == model::Entry::user;
    next.stored = false;
    next.slice_over = false;
    set_slice_end(next, until);
    next.polls = false;
    // No processor's clock is behind the beginning of the epoch.
    clock_.begin_slice(ns(std::max<std::int64_t>(next.share.time(next.instructions), 0)), next.latest_ns);
    return true;
}

void Windows::park(Lane& lane) {
    lane.iteration = lane.loop.iteration(lane.executed());
    lane.parked = true;
    lane.must_poll = false;
    end_slice();
}

/// The parked processor has polled until then.
void Windows::repeat_until(Lane& lane, std::int64_t time) {
    const std::uint64_t wanted = std::min(lane.share.reaches(time), lane.share.end());
    if (wanted > lane.instructions) {
        const std::uint64_t length = lane.iteration.instructions;
        lane.repeat((wanted - lane.instructions + length - 1) / length);
    }
}

/// The parked processor executes its polls again, from this time on.
void Windows::resume(Lane& lane, std::int64_t time) {
    repeat_until(lane, time);
    lane.parked = false;
    lane.must_poll = false;
    lane.loop.discard();
    lane.paused = true;  // it waits for a store
    lane.contends_until = lane.instructions + kContends;
    if (left_out_.has(lane.processor)) {
        take_in(lane);
    }
}

/// Another processor stores to a line that these processors have loaded.
void Windows::polled(model::CoreSet processors, model::Line line, std::int64_t time) {
    for (const unsigned processor : processors) {
        Lane& lane = *lanes_[processor];
        if (lane.parked && lane.loop.loads(line)) {
            resume(lane, time);
        } else if (lane.loop.loads(line)) {
            lane.loop.discard();
        }
    }
}

/// The epoch ends: processors that are still parked have polled as long as the others have executed.
void Windows::repeat_to_end() {
    std::int64_t end = -1;
    std::int64_t behind = kNoTime;  // the earliest one that has instructions left may yet store
    for (const auto& lane : lanes_) {
        if (awake(*lane) && !lane->parked) {
            const std::int64_t time = lane->share.time(lane->instructions);
            end = std::max(end, time);
            behind = has_left(*lane) ? std::min(behind, time) : behind;
        }
    }
    end = std::min(end, behind);
    for (const auto& lane : lanes_) {
        if (lane->parked) {
            repeat_until(*lane, end < 0 ? kNoTime : end);
            lane->must_poll = true;  // devices store without a callback, and interrupts may be due
        }
    }
}

/// One of the processors that are skipped stays in QEMU's round. Where it is skipped again and again, the
/// plugin sees that QEMU runs nobody else.
void Windows::skip(const Lane& next) {
    if (stays_ == nullptr) {
        stays_ = &next;
    }
    if (stays_ != &next) {
        left_out_.add(next.processor);
        round_.leave_out(next.processor);
    }
}

void Windows::take_in(const Lane& lane) {
    left_out_.remove(lane.processor);
    round_.take_in(lane.processor);
}

void Windows::take_in_all() {
    for (const unsigned processor : left_out_) {
        take_in(*lanes_[processor]);
    }
    stays_ = nullptr;
}

/// A time slice has ended: another contender may be the next.
void Windows::take_in_whose_turn_it_is() {
    if (left_out_.empty()) {
        return;
    }
    const bool all = all_contend();
    for (const unsigned processor : left_out_) {
        const Lane& lane = *lanes_[processor];
        if (has_left(lane) && lane.share.time(lane.instructions) <= executes_until(lane, all)) {
            take_in(lane);
        }
    }
}

/// While a processor polls until a time, all contend: its polls are not counted, but executed, and they must
/// see what the others store by then, and no more.
bool Windows::all_contend() const {
    return longest_slice_ != 0 || std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) {
               return lane->watches_clock() && has_left(*lane);
           });
}

/// Of the processors that contend for lines, the one whose time is lowest executes, until it has passed the
/// next one. So conflicts happen in the order of simulated time. A processor that polls does not get ahead of
/// them either. `all`: see all_contend. Returns the time until which `next` may execute.
std::int64_t Windows::executes_until(const Lane& next, bool all) const {
    std::int64_t first = kNoTime;
    if (all || next.paused || next.contends()) {
        for (const auto& other : lanes_) {
            if (other.get() != &next && (all || other->contends()) && has_left(*other)) {
                first = std::min(first, other->share.time(other->instructions));
            }
        }
    }
    return first;
}

/// The time slice that begins now may last until this time of the next contender, and a bit longer.
void Windows::set_slice_end(Lane& next, std::int64_t until) const {
    const auto passes = [&next, until](std::int64_t cycles) {
        return std::max(next.share.reaches(until + cycles * Player::kUnit), next.instructions + 1);
    };
    next.slice_end = Lane::kNever;
    next.turn_end = Lane::kNever;
    if (longest_slice_ != 0) {
        next.slice_end = next.instructions + longest_slice_;
    } else if (until != kNoTime) {
        next.slice_end = passes(machine_.quantum_cycles);
        next.turn_end = passes(kAhead);
        next.kernel_turn_end = passes(kKernelAhead);
    }
}

void Windows::count_slice() {
    if (running_ != nullptr) {
        running_->paused = false;
        running_->after_pause = false;
        const std::uint64_t ran = running_->instructions - slice_began_;
        state_.slices.add(ran);
        clock_.ran(ran, running_->latest_ns);
        running_ = nullptr;
        take_in_whose_turn_it_is();
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

void Windows::read_clock(Lane& lane) {
    lane.loop.discard();  // the loop around it does not repeat itself
    lane.watches_until = lane.instructions + kWatches;
    if (running_ == &lane) {
        clock_.read(ns(lane.share.time(lane.instructions)), lane.instructions - slice_began_, lane.latest_ns);
    }
}

void Windows::pause(Lane& lane) {
    end_slice();
    lane.paused = true;
    lane.after_pause = true;
}

/// Ends the epoch if nobody who is awake has instructions left.
void Windows::close_if_used_up() {
    const bool left =
        std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return has_left(*lane); });
    if (!left) {
        close(schedule_.due(total_instructions()));
    }
}

void Windows::access(Lane& lane, model::Line line, Kind kind) {
    const auto position = [&lane] {
        return static_cast<std::uint32_t>(lane.out - lane.stream->events.data());
    };
    const std::uint32_t expected = position();
    const Conflicts::Found found = kind == Kind::store ? conflicts_.store(lane.processor, line, expected)
                                                       : conflicts_.load(lane.processor, line);
    if (found.storer != Conflicts::Found::kNobody || found.storer_before != Conflicts::Found::kNobody ||
        !found.readers.empty()) [[unlikely]] {
        order(lane, line, found);
    }
    add(lane, Event::access(kind, line));
    if (kind == Kind::store) {
        lane.stored = true;
        lane.polling.store();
        lane.loop.discard();
    } else if (kind == Kind::load) {
        lane.polling.load(line);
        lane.loop.load(line);
    }
    if (kind == Kind::store && position() != expected + 1) [[unlikely]] {
        conflicts_.moved(line, position() - 1);
    }
    if (found.contended || found.transfers || found.disputed) [[unlikely]] {
        const std::int64_t time = lane.share.time(lane.instructions);
        contend(lane, found);
        polled(found.copies, line, time);
    }
}

/// The access comes after those that it conflicts with.
void Windows::order(Lane& lane, model::Line line, const Conflicts::Found& found) {
    if (found.storer != Conflicts::Found::kNobody) {
        if (lane.paused && !lane.poll_stored) {
            wait_for(lane, {found.storer, found.first_at, model::Wait::store});
        }
        wait_for(lane,
                 {found.storer, found.stored_at, lane.paused ? model::Wait::later : model::Wait::transfer});
        const Lane& storer = *lanes_[found.storer];
        const std::int64_t stored = found.stored_time != Conflicts::Found::kNoTime
                                        ? found.stored_time
                                        : storer.share.time(storer.instructions);
        const std::int64_t time = stored - lane.share.time(lane.instructions);
        if (time > 0 && (lane.paused || time <= longest_wait_)) {
            lane.share.spend(time);
        }
    } else if (found.storer_before != Conflicts::Found::kNobody) {
        const std::int64_t stored = lanes_[found.storer_before]->began + found.stored_time;
        const std::int64_t time = stored - lane.share.time(lane.instructions);
        add(lane, Event::after({found.storer_before, found.stored_at, model::Wait::before}));
        if (time > 0 && time <= longest_wait_) {
            lane.share.spend(time);
        }
    }
    for (const unsigned reader : found.readers) {
        const auto wait = lanes_[reader]->polling.polls(line) ? model::Wait::polls : model::Wait::nothing;
        wait_for(lane, {reader, last(Access::read, reader, line), wait});
    }
}

/// The last event is an access to a line for which processors contend.
void Windows::contend(Lane& lane, const Conflicts::Found& found) {
    const bool user = lane.context.entry() == model::Entry::user;
    contended_blocks_.add(lane.block_id, number_, user);
    if (found.miss || found.upgrade) {
        (lane.out - 1)->know_stall();
        const unsigned stall = found.miss ? machine_.latency.cache : machine_.latency.upgrade;
        lane.share.spend(std::int64_t{stall} * Player::kUnit);
    }
    if (found.when != nullptr) {
        *found.when = lane.share.time(lane.instructions);
    }
    if (found.contended) {
        lane.interval_end = std::min(lane.interval_end, lane.instructions + kPolls);
        lane.check_at = std::min(lane.check_at, lane.interval_end);
    }
    if (found.disputed && lane.slice_end == Lane::kNever) {
        lane.slice_end = lane.instructions + kKeepsLine;
        lane.check_at = std::min(lane.check_at, lane.slice_end);
    }
    if (found.contended && lane.polls && lane.search != 0) {
        lane.ends_after_search = true;
        if (!found.transfers && !found.first) {
            return;
        }
    }
    if (found.transfers || found.first || (found.contended && lane.polls)) {
        lane.contends_until = lane.instructions + kContends;
        if (user) {
            lane.contends_epochs = 1 + std::max(kUserContends / machine_.epoch_cycles, 1U);
        }
        end_before_next_block(lane);
    } else if (found.disputed && lane.share.time(lane.instructions) > slice_until_) {
        end_before_next_block(lane);  // the next contender may take the line
    }
}

void Windows::end_before_next_block(Lane& lane) {
    lane.slice_over = true;
    lane.check_at = 0;
}

/// `edge`: its number is the position of the awaited event.
void Windows::wait_for(Lane& lane, const model::Edge& edge) {
    std::uint32_t& until = lane.waits_until[edge.processor];
    if (edge.number < until) {
        return;
    }
    until = edge.number + 1;
    orders_.push_back({lane.processor, 0, edge});
    add(lane, Event::after({}));
    orders_.back().position = static_cast<std::size_t>(lane.out - lane.stream->events.data()) - 1;
    lanes_[edge.processor]->awaited.push_back(edge.number);
}

/// Position of a processor's last access to the line in this epoch. It is near the end of the stream: an
/// access that conflicts with one of another processor is rarely an old one.
std::uint32_t Windows::last(Access access, unsigned processor, model::Line line) const {
    const Lane& lane = *lanes_[processor];
    const model::Event* const begin = lane.stream->events.data();
    for (const model::Event* at = lane.out; at != begin;) {
        --at;
        const bool reads = at->op == Op::load || at->op == Op::walk;
        if (at->line == line && (access == Access::read ? reads : at->op == Op::store)) {
            return static_cast<std::uint32_t>(at - begin);
        }
    }
    throw model::Error("internal error: a conflicting access is not in its epoch");
}

/// Names in each edge the number of the awaited event, and marks these events. In the next epoch a
/// processor may have to wait for the last store of this one.
void Windows::number_edges() {
    conflicts_.each_stored(
        [this](unsigned storer, std::uint32_t at, std::int64_t) { lanes_[storer]->awaited.push_back(at); });
    for (const auto& lane : lanes_) {
        std::vector<std::uint32_t>& awaited = lane->awaited;
        std::sort(awaited.begin(), awaited.end());
        awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
        for (const std::uint32_t position : awaited) {
            lane->stream->events[position].awaited = 1;
        }
    }
    const auto number = [this](unsigned processor, std::uint32_t position) {
        const std::vector<std::uint32_t>& awaited = lanes_[processor]->awaited;
        const auto at = std::lower_bound(awaited.begin(), awaited.end(), position);
        return static_cast<std::uint32_t>(at - awaited.begin());
    };
    conflicts_.each_stored([&](unsigned storer, std::uint32_t& at, std::int64_t& time) {
        const Lane& lane = *lanes_[storer];
        at = number(storer, at);
        const std::int64_t end = lane.share.time(lane.instructions);
        time = (time != Conflicts::Found::kNoTime ? time : 0) - end;  // of which a part is corrected later
    });
    for (const Order& order : orders_) {
        model::Edge edge = order.edge;
        edge.number = number(edge.processor, edge.number);
        lanes_[order.processor]->stream->events[order.position].set_edge(edge);
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

void Windows::mark(Mark mark) {
    if (mark == Mark::measure_begin) {
        schedule_.begin_region(total_instructions());
    }
    close(mark);
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
    repeat_to_end();
    const std::int64_t length = predicted_length();
    for (const auto& lane : lanes_) {
        lane->settle();
        model::Stream& s = *lane->stream;
        s.size = static_cast<std::size_t>(lane->out - s.events.data());
        s.tail = lane->instructions - lane->emitted_at;
        s.ran = lane->instructions != lane->window_start || s.size != 0;
        s.runs_on = awake(*lane);
        lane->emitted_at = lane->instructions;
    }
    number_edges();
    lengths_in_flight_ = {lengths_in_flight_[1], ns(length)};
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
    take_in_all();
    open(length);
    publish();
}

/// A time in 1/256 cycle as nanoseconds.
std::int64_t Windows::ns(std::int64_t time) const {
    __extension__ typedef __int128 Wide;
    return static_cast<std::int64_t>(static_cast<Wide>(time) * kNsPerSecond /
                                     (static_cast<Wide>(machine_.clock_hz) * Player::kUnit));
}

/// The length of the epoch that ends now, by the same rule as in model::Player: the mean of what the
/// processors that are awake needed; if none is, what the last one needed.
std::int64_t Windows::predicted_length() const {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    std::int64_t many = 0;
    for (const auto& lane : lanes_) {
        if (!lane->bound()) {
            continue;
        }
        const std::int64_t time = lane->share.time(lane->instructions);
        if (awake(*lane)) {
            sum += time;
            ++many;
        } else if (lane->instructions != lane->window_start) {
            longest = std::max(longest, time);
        }
    }
    return std::max<std::int64_t>(many != 0 ? sum / many : longest, 0);
}

/// `length`: of the last epoch. See Share::begin_epoch.
void Windows::share(Lane& lane, const Player::Pace& pace, std::int64_t length) {
    const auto base = static_cast<std::uint64_t>(machine_.base_cpi * static_cast<double>(Player::kUnit));
    const std::uint64_t cpi = pace.instructions != 0 ? std::max(pace.cpi(), base) : 2 * base;
    const std::int64_t epoch = clock_.runs() ? std::int64_t{machine_.epoch_cycles} * Player::kUnit : 0;
    const std::int64_t end = lane.share.time(lane.instructions) - length;
    lane.share.begin_epoch(lane.instructions, awake(lane) ? end : std::max<std::int64_t>(end, 0), pace.lead,
                           cpi, epoch);
}

void Windows::open(std::int64_t last_length) {
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
        lane->contends_epochs -= lane->contends_epochs != 0 ? 1 : 0;
        lane->awaited.clear();
        lane->waits_until.fill(0);
        share(*lane, known.paces[lane->processor], last_length);
        lane->began = lane->share.time(lane->instructions);
        lane->check_at = 0;
    }
    clock_.begin_epoch(known.clock_ns, static_cast<std::int64_t>(idle_in_flight_[0] + idle_in_flight_[1]) +
                                           lengths_in_flight_[0] + lengths_in_flight_[1]);
}

}  // namespace s80::plugin
