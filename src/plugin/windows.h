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

#include "model/window.h"
#include "plugin/clock_page.h"
#include "plugin/lane.h"
#include "plugin/schedule.h"

namespace s80::plugin {

/// Source and destination of epochs.
class WindowSink {
public:
    virtual ~WindowSink() = default;
    /// An empty epoch to record into.
    virtual std::unique_ptr<model::Window> take() = 0;
    /// Hands over an epoch to be played.
    virtual void submit(std::unique_ptr<model::Window> window) = 0;
    /// Simulated time in nanoseconds, after the epoch two before the last one handed over.
    virtual std::uint64_t clock_ns() = 0;
};

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
        std::uint32_t sleeping = 0;      ///< mask of processors
        bool gap_pending = false;        ///< all sleep; the length of the gap is not known yet
        bool began = false;              ///< whether the load began
        std::uint64_t instructions = 0;  ///< of the runs before this one
        std::array<std::array<std::uint64_t, model::kOutcomes>, model::kTransactionTypes> transactions{};
        std::set<std::uint64_t> finished;  ///< clients that have finished a transaction
        model::TurnCounts turns;
    };

    /// The first epoch begins at once. All arguments except `schedule` must outlive this object.
    Windows(const Lanes& lanes, WindowSink& sink, ClockPage& page, const Schedule& schedule,
            const State& state, std::size_t room = kRoom);

    // --- events of a processor, at its present instruction ---
    void add(Lane& lane, model::Line line, model::Op op) {
        std::uint64_t delta = lane.instructions - lane.emitted_at;
        if (static_cast<std::uint64_t>(lane.out_end - lane.out) <= delta / kLongestDelta) [[unlikely]] {
            grow(lane);
        }
        for (; delta > kLongestDelta; delta -= kLongestDelta) {
            *lane.out++ =
                model::Event{0, static_cast<std::uint16_t>(kLongestDelta), model::Op::pass, 0, lane.context};
        }
        *lane.out++ = model::Event{line, static_cast<std::uint16_t>(delta), op, 0, lane.context};
        lane.emitted_at = lane.instructions;
    }
    /// `lane` sent an interrupt to `target`, and wakes it if it sleeps.
    void interrupt(Lane& lane, Lane& target);
    /// `lane` falls asleep. If all processors sleep, the epoch ends.
    void sleep(Lane& lane);
    /// `lane` wakes, at the earliest when the interrupt of this epoch that woke it was sent.
    void wake(Lane& lane);

    // --- where windows end ---
    /// The turn of `next` begins. A window ends with its round, unless it is too short.
    void begin_turn(Lane& next);
    /// A block of `lane` begins. Ends the epoch if it is full or the time slice is too long.
    void limit_turn(const Lane& lane);
    void begin_load();
    /// Ends the last epoch of the run.
    void finish();

    // --- idle time ---
    /// Every processor slept, and the length of that is not known yet.
    bool gap_pending() const { return state_.gap_pending; }
    void end_gap(std::uint64_t ns);

    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed);
    /// Writes simulated time to the guest's clock page.
    void publish();

    std::uint64_t total_instructions() const;
    /// Number of the epoch that is being recorded, from 1.
    std::uint64_t number() const { return number_; }
    /// Whether it belongs to the measured region.
    bool measuring() const { return schedule_.phase() == Phase::measured; }
    const State& state() const { return state_; }

private:
    static constexpr std::uint64_t kLongestDelta = 0xffff;

    void grow(Lane& lane);
    bool alone() const;
    void end_turn();
    void open();
    void close(model::Mark mark);

    const Lanes& lanes_;
    WindowSink& sink_;
    ClockPage& page_;
    Schedule schedule_;
    const std::size_t room_;
    State state_;

    std::unique_ptr<model::Window> window_;
    std::uint64_t number_ = 0;
    std::uint64_t began_ = 0;                        ///< total of instructions when the epoch began
    Lane* running_ = nullptr;                        ///< the processor of the current time slice
    std::uint64_t turn_began_ = 0;                   ///< its instructions at the begin of the slice
    std::uint32_t turn_ = 0;                         ///< number of the time slice in the epoch
    bool full_ = false;                              ///< the epoch must end at the next block
    bool alone_before_ = false;                      ///< only one processor ran in the epoch before
    std::array<std::uint64_t, 2> idle_in_flight_{};  ///< idle gaps before the last two epochs handed over, ns
};

}  // namespace s80::plugin
