// SPDX-License-Identifier: GPL-2.0-or-later
// The one owner of windows: opens and closes them, and alone writes into the processors' streams
// (docs/background/clock.md, "From turns to windows").
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

/// Where windows come from and go to.
class WindowSink {
public:
    virtual ~WindowSink() = default;
    /// A window to record into.
    virtual std::unique_ptr<model::Window> take() = 0;
    /// Hands a window over to be played.
    virtual void submit(std::unique_ptr<model::Window> window) = 0;
    /// The modelled clock two windows before the last one handed over, nanoseconds.
    virtual std::uint64_t clock_ns() = 0;
};

/// A window ends between two blocks of instructions, never within one: what a block does, the load and the
/// store of a read-modify-write among it, is in one window. So no event can end the window that it is written
/// into.
class Windows {
public:
    /// Events of a processor in one window; a block that does not fit is recorded whole.
    static constexpr std::size_t kRoom = std::size_t{1} << 16;
    /// What travels with a checkpoint.
    struct State {
        std::uint32_t sleeping = 0;      ///< mask of processors
        bool gap_pending = false;        ///< all sleep; how long is not known yet
        bool began = false;              ///< the load
        std::uint64_t instructions = 0;  ///< of the runs before this one
        std::array<std::array<std::uint64_t, model::kOutcomes>, model::kTransactionTypes> transactions{};
        std::set<std::uint64_t> finished;  ///< clients that have finished a transaction
        model::TurnCounts turns;
    };

    /// The first window begins at once. All but `schedule` must outlive this.
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
    /// `lane` sleeps. When all do, the window ends.
    void sleep(Lane& lane);
    /// It goes on, not before the interrupt was sent that woke it, if one of this window did.
    void wake(Lane& lane);

    // --- where windows end ---
    /// The turn of `next` begins. A window ends with its round, unless it is too short.
    void begin_turn(Lane& next);
    /// A block of `lane` begins. Ends the window when it is full, or the turn has become too long.
    void limit_turn(const Lane& lane);
    void begin_load();
    /// The last window of the run ends.
    void finish();

    // --- idle time ---
    /// Every processor slept, and the length of that is not known yet.
    bool gap_pending() const { return state_.gap_pending; }
    void end_gap(std::uint64_t ns);

    void transaction_end(std::uint64_t type, std::uint64_t client, bool failed);
    /// Shows the guest the clock.
    void publish();

    std::uint64_t total_instructions() const;
    /// Of the window that is recorded; counted from 1.
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
    std::uint64_t began_ = 0;       ///< total of instructions when the window began
    Lane* running_ = nullptr;       ///< whose turn it is
    std::uint64_t turn_began_ = 0;  ///< its instructions then
    std::uint32_t turn_ = 0;        ///< number of the turn in the window
    bool full_ = false;             ///< it has to end at the next block
    bool alone_before_ = false;     ///< the window before had one processor only
    std::array<std::uint64_t, 2>
        idle_in_flight_{};  ///< idle gaps before the last two windows handed over, ns
};

}  // namespace s80::plugin
