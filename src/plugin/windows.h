// SPDX-License-Identifier: GPL-2.0-or-later
// Opens and closes epochs (`Window`). Only this class writes into the processors' streams
// (docs/background/clock.md).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/core_set.h"
#include "plugin/conflicts.h"
#include "plugin/contended_blocks.h"
#include "plugin/guest_clock.h"
#include "plugin/lane.h"
#include "plugin/phase_page.h"
#include "plugin/round.h"
#include "plugin/schedule.h"
#include "stream/window.h"
#include "timing/player.h"

namespace s80::plugin {

/// Source and destination of epochs.
class WindowSink {
public:
    virtual ~WindowSink() = default;
    /// An empty epoch to record into.
    virtual std::unique_ptr<model::Window> take() = 0;
    /// Hands over an epoch to be played.
    virtual void submit(std::unique_ptr<model::Window> window) = 0;
    /// What is known after the epoch two before the last one handed over.
    struct Known {
        std::uint64_t clock_ns = 0;              ///< simulated time
        std::vector<model::Player::Pace> paces;  ///< by processor
    };
    virtual const Known& known() = 0;
};

/// An epoch is a span of simulated time. Each processor has a share of it: the instructions that it executes
/// in that time at its recent speed. A stall by a conflict takes its time from the share. The epoch ends when
/// each processor has used up its share or sleeps.
///
/// An epoch ends between two blocks of instructions, never within one. All effects of a block, including the
/// load and the store of a read-modify-write, are in one epoch. No event can therefore end the epoch into
/// which it is written.
class Windows {
public:
    /// Maximum number of events of a processor in one epoch. A block that exceeds it is still recorded
    /// completely.
    static constexpr std::size_t kRoom = std::size_t{1} << 16;
    /// State for a checkpoint.
    struct State {
        model::CoreSet sleeping;         ///< processors
        bool gap_pending = false;        ///< all sleep; the length of the gap is not known yet
        bool began = false;              ///< whether the load began
        std::uint64_t instructions = 0;  ///< of the runs before this one
        std::array<std::array<std::uint64_t, model::kOutcomes>, model::kTransactionTypes> transactions{};
        std::set<std::uint64_t> finished;  ///< clients that have finished a transaction
        model::SliceCounts slices;
        GuestClock::State clock;
    };

    /// The first epoch begins at once. `clock_shift`: see GuestClock. The references must outlive this
    /// object.
    Windows(const model::Machine& machine, const Lanes& lanes, WindowSink& sink, PhasePage& page,
            VirtualTime& time, Round& round, std::size_t lines, unsigned clock_shift,
            const Schedule& schedule, const State& state, std::size_t room = kRoom);

    // --- events of a processor, at its present instruction ---
    void add(Lane& lane, model::Event event) {
        using model::Event;
        using model::kLongestDelta;
        std::uint64_t delta = lane.instructions - lane.emitted_at;
        if (static_cast<std::uint64_t>(lane.out_end - lane.out) <= delta / kLongestDelta) [[unlikely]] {
            grow(lane);
        }
        for (; delta > kLongestDelta; delta -= kLongestDelta) {
            *lane.out++ = Event::pass().after_instructions(kLongestDelta, lane.context);
        }
        *lane.out++ = event.after_instructions(delta, lane.context);
        lane.emitted_at = lane.instructions;
    }
    /// A load, a store or a walk: also keeps its order with the accesses that it conflicts with, and ends the
    /// time slice if it conflicts, as the processor would stall.
    void access(Lane& lane, model::Line line, model::Kind kind);
    /// `lane` sent an interrupt to `target`, and wakes it if it sleeps.
    void interrupt(Lane& lane, Lane& target);
    /// `lane` sent an interrupt to processors that are not known.
    void interrupt_all(Lane& lane);
    /// `lane` falls asleep. If all processors sleep, the epoch ends.
    void sleep(Lane& lane);
    /// `lane` wakes, at the earliest when the interrupt of this epoch that woke it was sent.
    void wake(Lane& lane);

    // --- time slices, and where epochs end ---
    /// All processors are known: from now on the guest's clock follows simulated time.
    void start_clock() { start_clock_ = true; }
    /// For tests: each time slice ends after so many instructions, and of all processors the earliest one in
    /// simulated time executes.
    void bound_slices(std::uint64_t instructions) { longest_slice_ = instructions; }
    /// A time slice of `next` begins. Returns false if it has used up its share: it is skipped. `registers`:
    /// QEMU's state of the processor; null in tests.
    bool begin_slice(Lane& next, const void* registers = nullptr);
    /// The running processor is in a loop that repeats itself until another one stores to a line that it
    /// polls. Its polls are not executed, but counted: until that store, an interrupt, or the end of the
    /// epoch.
    void park(Lane& lane);
    /// Whether the running processor's time slice must end before this block, the one with `Lane::block_id`.
    bool slice_over(const Lane& lane) const {
        return lane.slice_over || lane.instructions >= lane.share.end() ||
               lane.instructions >= lane.slice_end || full_ ||
               (lane.instructions >= lane.turn_end && ahead(lane));
    }
    /// The running processor's time slice ends.
    void end_slice();
    /// The running processor reads the guest's clock, which then shows the processor's time.
    void read_clock(Lane& lane);
    /// The time slice of `lane` ends by PAUSE.
    void pause(Lane& lane);
    void begin_load();
    /// Ends the epoch with this snapshot.
    void mark(model::Mark mark);
    /// Ends the last epoch of the run.
    void finish();

    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed);
    /// Writes the phase of the run to the guest's page.
    void publish() { page_.publish(schedule_.phase()); }

    std::uint64_t total_instructions() const;
    /// Number of the epoch that is being recorded, from 1.
    std::uint64_t number() const { return number_; }
    /// Whether it belongs to the measured region.
    bool measuring() const { return schedule_.phase() == Phase::measured; }
    State state() const {
        State state = state_;
        state.clock = clock_.state();
        return state;
    }

private:
    /// An ordering edge, as long as positions in streams stand for numbers of awaited events.
    struct Order {
        unsigned processor = 0;
        std::size_t position = 0;  ///< of the event
        model::Edge edge;          ///< its number is the position of the access that comes before it
    };

    bool ahead(const Lane& lane) const {
        const ContendedBlocks::Kind kind = contended_blocks_.find(lane.block_id, number_);
        return kind == ContendedBlocks::Kind::user ||
               (kind == ContendedBlocks::Kind::kernel && lane.instructions >= lane.kernel_turn_end);
    }
    void grow(Lane& lane);
    void order(Lane& lane, model::Line line, const Conflicts::Found& found);
    void contend(Lane& lane, const Conflicts::Found& found);
    static void end_before_next_block(Lane& lane);
    bool all_contend() const;
    std::int64_t executes_until(const Lane& next, bool all) const;
    void polled(model::CoreSet processors, model::Line line, std::int64_t time);
    void repeat_until(Lane& lane, std::int64_t time);
    void resume(Lane& lane, std::int64_t time);
    void repeat_to_end();
    void skip(const Lane& next);
    void take_in(const Lane& lane);
    void take_in_all();
    void take_in_whose_turn_it_is();
    void set_slice_end(Lane& next, std::int64_t until) const;
    void wait_for(Lane& lane, const model::Edge& edge);
    enum class Access : std::uint8_t { read, store };
    std::uint32_t last(Access access, unsigned processor, model::Line line) const;
    void number_edges();
    void share(Lane& lane, const model::Player::Pace& pace, std::int64_t length);
    std::int64_t ns(std::int64_t time) const;
    void count_slice();
    void close_if_used_up();
    std::int64_t predicted_length() const;
    void open(std::int64_t last_length);
    void close(model::Mark mark);

    const model::Machine& machine_;
    const Lanes& lanes_;
    WindowSink& sink_;
    PhasePage& page_;
    Schedule schedule_;
    GuestClock clock_;
    Round& round_;
    Conflicts conflicts_;
    ContendedBlocks contended_blocks_;
    const std::size_t room_;
    const std::int64_t longest_wait_;  ///< see model::Player
    State state_;

    std::unique_ptr<model::Window> window_;
    std::uint64_t number_ = 0;
    std::vector<Order> orders_;        ///< of this epoch
    Lane* running_ = nullptr;          ///< the processor of the current time slice; null: none
    std::uint64_t slice_began_ = 0;    ///< its instructions at the beginning of the slice
    std::int64_t slice_until_ = 0;     ///< time: see executes_until
    unsigned skipped_ = 0;             ///< processors skipped since one ran
    model::CoreSet left_out_;          ///< of QEMU's round: processors
    const Lane* stays_ = nullptr;      ///< skipped, but not left out
    std::uint64_t longest_slice_ = 0;  ///< see bound_slices; 0: not bounded
    bool start_clock_ = false;
    bool full_ = false;                              ///< the epoch must end at the next block
    std::array<std::uint64_t, 2> idle_in_flight_{};  ///< idle gaps before the last two epochs handed over, ns
    std::array<std::int64_t, 2> lengths_in_flight_{};  ///< predicted lengths of these epochs, ns
};

}  // namespace s80::plugin
