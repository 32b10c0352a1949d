// SPDX-License-Identifier: GPL-2.0-or-later
// The timing merger (`TimingMerger`): merges the streams of all processors by their cycle clocks, plays them
// through the hierarchy, and advances simulated time (docs/background/clock.md).
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "memory/hierarchy.h"
#include "stream/epoch.h"
#include "timing/clock_queue.h"
#include "timing/rules.h"

namespace s80::model {

/// Observes the accesses in the order in which they are played.
class Observer {
public:
    virtual ~Observer() = default;
    /// The epoch that is played next.
    virtual void begin(const Epoch&) {}
    /// Called before the hierarchy performs the event. `clock`: the processor's, in 1/256 cycle since the
    /// epoch began.
    virtual void event(unsigned processor, const Event& event, std::int64_t clock) = 0;
    /// The access of the last event went beyond its L1.
    virtual void beyond_l1(const Outcome&) {}
    /// All streams of the epoch have ended; clock and statistics are up to date.
    virtual void end(const Epoch& epoch) = 0;
};

class TimingMerger {
public:
    explicit TimingMerger(Hierarchy& hierarchy);

    /// Adds an observer.
    void observe(Observer& observer) { observers_.push_back(&observer); }

    /// Plays one epoch, advances the clock and adds the epoch's counts to the statistics.
    void play(const Epoch& epoch);

    std::uint64_t clock_ns() const;
    std::uint64_t idle_ns() const { return idle_ns_; }
    /// Upper bound of a processor's lead over the clock, and of its lag behind it.
    static std::int64_t longest_lead_ns(const Machine& machine);

    /// Clocks are in this fraction of a cycle.
    static constexpr std::int64_t kUnit = kCycle;

    /// Recent speed of a processor. The recording side predicts from it how many instructions the processor
    /// executes in an epoch. Stalls by conflicts are not included: the recording side expects them by itself.
    struct Pace {
        // Sums over recent epochs, in which older epochs count less:
        std::uint64_t busy = 0;          ///< 1/256 cycle
        std::uint64_t instructions = 0;  ///< 1/256 instruction
        /// Time at which the processor begins the next epoch, relative to the clock, in 1/256 cycle. Negative
        /// if the processor is awake and begins before the clock. A processor that fell asleep after the end
        /// of its epoch cannot wake before this time.
        std::int64_t lead = 0;
        /// 1/256 cycle per instruction; 0: unknown.
        std::uint64_t cpi() const { return instructions != 0 ? busy * kUnit / instructions : 0; }
    };
    const std::vector<Pace>& paces() const { return paces_; }

    /// State of the clock between two epochs, in units of 1/256 cycle.
    struct Clock {
        std::uint64_t cycles = 0;
        std::uint64_t idle_ns = 0;
        std::vector<Pace> paces;
        std::vector<std::uint64_t> base;
    };
    Clock clock() const { return {cycles_, idle_ns_, paces_, base_}; }
    void set_clock(const Clock& clock);
    /// The state of the clock as words, for a checkpoint.
    std::vector<std::uint64_t> state() const;
    /// Restores the state from the first words, and returns the remaining words. Throws Error if there are
    /// too few.
    std::span<const std::uint64_t> set_state(std::span<const std::uint64_t> words);

private:
    /// A processor's position in its stream. A processor that did not run in the epoch is not scheduled.
    struct Cursor {
        const Event* at = nullptr;
        const Event* end = nullptr;
        std::int64_t clock = 0;  ///< at its last event
        std::int64_t start = 0;  ///< where it began
        std::int64_t idle = 0;   ///< part of the clock in which it slept or waited for an interrupt
        std::int64_t turn = 0;   ///< time up to which it has played its stream
        std::uint64_t tail = 0;
        std::uint64_t instructions = 0;  ///< played
        unsigned core = 0;
        std::int64_t conflicts = 0;  ///< part of the clock: stalls by conflicts, and waits at edges
        /// The waits that were too long to be charged (TimeRules::keeps_behind).
        std::int64_t behind = 0;
        /// Time up to which its polls in vain are already counted (note_wait_error).
        std::int64_t in_vain = std::numeric_limits<std::int64_t>::min();
        Event waits_at;  ///< the event at which it is blocked; pass: not blocked
        bool done = false;
        bool blocked() const { return waits_at.op != Op::pass; }
        void block(const Event& event) { waits_at = event; }
        void unblock() { waits_at = Event::pass(); }
        // Used only if threads share their core's issue slots:
        bool runs_on = false;
        Context of_tail;
        std::int64_t quiet_begin = 0;  ///< beginning of its last stall or sleep
        std::int64_t quiet_end = 0;

        void quiet(std::int64_t from, std::int64_t to) {
            quiet_begin = from;
            quiet_end = to;
        }
        /// Whether it uses issue slots at that time: it neither sleeps nor stalls.
        bool issues(std::int64_t moment) const {
            const bool awake = moment < clock || runs_on || (!done && !blocked());
            return awake && (moment < quiet_begin || moment >= quiet_end);
        }
    };
    /// The core on which a turn runs, copied so that it can stay in registers.
    struct Core {
        unsigned number;
        Hierarchy::L1s l1s;
        std::int64_t epoch_begin;  ///< 1/256 cycle since the model was switched on
    };
    void begin(const Epoch& epoch);
    template <bool kPlaced, bool kObserved>
    void merge();
    template <bool kPlaced, bool kObserved, bool kShared>
    void turns();
    template <bool kPlaced>
    void look_ahead(unsigned core, const Event* end, const Event* at) const;
    template <bool kObserved>
    void observed(const Outcome& outcome) const;
    template <bool kPlaced, bool kObserved, bool kShared>
    void run(unsigned processor, std::int64_t until);
    template <bool kPlaced, bool kObserved, bool kShared>
    std::int64_t play_access(Cursor& cursor, const Core& core, const Event& event, std::int64_t when);
    template <bool kShared>
    std::uint64_t play_tail(unsigned processor, std::int64_t until);
    // One function for each kind of event that is not an access. They return false if the turn ends after the
    // event.
    bool play_other(unsigned processor, const Event& event);
    bool play_edge(Cursor& cursor, const Event& event);
    bool play_signal(Cursor& cursor, const Event& event);
    bool play_wait(Cursor& cursor, const Event& event);
    void play_device(const Cursor& cursor, const Event& event);
    bool play_awaited(unsigned processor);
    template <bool kShared>
    std::int64_t cpi_at(unsigned processor, std::int64_t moment) const;
    void wait_for_issue(unsigned processor, Context context, std::int64_t parts);
    std::int64_t& sent(std::uint32_t number);
    bool signal(std::uint32_t number, std::int64_t when);
    bool passed(Edge edge, std::int64_t& when) const;
    bool played_awaited(unsigned processor);
    void wait_in_order(Cursor& cursor, Context context, Edge edge, std::int64_t when);
    void note_wait_error(const Cursor& cursor, Edge edge, std::int64_t now, std::int64_t when);
    void advance(const Epoch& epoch);
    void note_pace(unsigned processor, bool runs_on, std::int64_t length);
    void count(const Epoch& epoch);

    Hierarchy& hierarchy_;
    std::vector<Observer*> observers_;
    std::int64_t cpi_;  ///< 1/256 cycle per instruction
    /// 1/256 cycle per instruction while the core's other thread issues too.
    std::int64_t shared_cpi_;
    std::int64_t quantum_;             ///< 1/256 cycle
    std::uint64_t remembered_epochs_;  ///< see Pace
    TimeRules rules_;
    std::uint64_t epoch_;  ///< 1/256 cycle
    unsigned threads_per_core_;
    std::uint64_t cycles_ = 0;
    std::uint64_t idle_ns_ = 0;
    std::vector<Pace> paces_;          ///< by processor
    std::vector<std::uint64_t> base_;  ///< base cycles by core, in 1/256
    /// Fractions of a cycle (1/256) that processors waited for issue slots, not counted yet.
    std::vector<std::int64_t> part_;
    std::vector<Cursor> cursors_;  ///< by processor
    ClockQueue clock_queue_;
    std::vector<std::int64_t> sent_;  ///< time at which each interrupt was sent, or kNotSent
    /// By processor: when each of its awaited events was played.
    std::vector<std::vector<std::int64_t>> awaited_;
    /// The same for the epoch before, relative to the beginning of this epoch.
    std::vector<std::vector<std::int64_t>> awaited_before_;
};

}  // namespace s80::model
