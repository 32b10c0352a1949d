// SPDX-License-Identifier: GPL-2.0-or-later
// The timing merger (`TimingMerger`): plays the streams of all processors through the modelled caches, in the
// order of the processors' cycle clocks, and so advances simulated time (docs/background/clock.md).
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

/// Receives all events in the order in which the timing merger plays them, for example to attribute misses.
class Observer {
public:
    virtual ~Observer() = default;
    /// Called before the timing merger plays an epoch.
    virtual void begin(const Epoch&) {}
    /// Called before each event is played. `clock`: time of the processor, in 1/256 cycle since the beginning
    /// of the epoch.
    virtual void event(unsigned processor, const Event& event, std::int64_t clock) = 0;
    /// Called after the last event, an access, if it went beyond the L1. The outcome says what serviced it.
    virtual void beyond_l1(const Outcome&) {}
    /// Called after all events of the epoch. Simulated time and statistics include the epoch.
    virtual void end(const Epoch& epoch) = 0;
};

class TimingMerger {
public:
    /// `hierarchy`: the modelled caches and their statistics; it must outlive this object.
    explicit TimingMerger(Hierarchy& hierarchy);

    /// Adds an observer, which must outlive this object.
    void observe(Observer& observer) { observers_.push_back(&observer); }

    /// Plays one epoch: advances simulated time, and adds the epoch's counts to the statistics.
    void play(const Epoch& epoch);

    /// Simulated time at the end of the last played epoch, or at the beginning of the epoch that is being
    /// played, ns.
    std::uint64_t clock_ns() const;
    /// The part of simulated time in which all processors slept, ns.
    std::uint64_t idle_ns() const { return idle_ns_; }
    /// Upper bound for the time by which a processor is ahead of the end of an epoch, or behind it, ns.
    static std::int64_t longest_lead_ns(const Machine& machine);

    /// Units per cycle: clocks are in 1/256 cycle.
    static constexpr std::int64_t kUnit = kCycle;

    /// Recent speed of a processor, without stalls by conflicts. The recording side predicts from it how many
    /// instructions the processor executes in an epoch; it adds the stalls by conflicts itself, when they
    /// happen.
    struct Pace {
        // Sums over recent epochs. Older epochs count less:
        std::uint64_t busy = 0;          ///< busy time without stalls by conflicts, in 1/256 cycle
        std::uint64_t instructions = 0;  ///< executed instructions, in 1/256 instruction
        /// The time at which the processor begins the next epoch, relative to the beginning of that epoch, in
        /// 1/256 cycle. Below 0 if an awake processor needed less time than the epoch lasted. Of a sleeping
        /// processor, the time before which it cannot wake, because it fell asleep then.
        std::int64_t lead = 0;
        /// Cycles per instruction, in 1/256 cycle; 0: the processor has not executed yet.
        std::uint64_t cpi() const { return instructions != 0 ? busy * kUnit / instructions : 0; }
    };
    const std::vector<Pace>& paces() const { return paces_; }

    /// What a checkpoint keeps of the clocks, between two epochs. Times are in 1/256 cycle if their names do
    /// not say nanoseconds.
    struct Clock {
        std::uint64_t cycles = 0;
        std::uint64_t idle_ns = 0;
        std::vector<Pace> paces;
        std::vector<std::uint64_t> base;
    };
    Clock clock() const { return {cycles_, idle_ns_, paces_, base_}; }
    void set_clock(const Clock& clock);
    /// The same as 64-bit words.
    std::vector<std::uint64_t> state() const;
    /// Restores what state() returned from the first of these words, and returns the words after it. Throws
    /// Error if there are too few.
    std::span<const std::uint64_t> set_state(std::span<const std::uint64_t> words);

private:
    /// The position of a processor in its stream of the played epoch. Times are in 1/256 cycle since the
    /// epoch began.
    struct Cursor {
        const Event* at = nullptr;
        const Event* end = nullptr;
        std::int64_t clock = 0;  ///< time after the last event that was played
        std::int64_t start = 0;  ///< time at which the processor began the epoch
        /// Part of `clock` in which the processor did not execute: its lead at the beginning, and its sleep.
        std::int64_t idle = 0;
        std::int64_t turn = 0;  ///< time up to which the stream has been played
        std::uint64_t tail = 0;
        std::uint64_t instructions = 0;  ///< number of instructions that were played
        unsigned core = 0;
        /// Stalls by conflicts and waits at ordering edges, which are included in `clock`.
        std::int64_t conflicts = 0;
        /// Waits that were too long to be charged, which are not included in `clock`
        /// (TimeRules::keeps_behind).
        std::int64_t behind = 0;
        /// Time up to which the wait error already includes this processor's useless polls (note_wait_error).
        std::int64_t in_vain = std::numeric_limits<std::int64_t>::min();
        /// The edge or `wait` at which the processor is blocked; Op::pass: it is not blocked.
        Event waits_at;
        bool done = false;
        bool blocked() const { return waits_at.op != Op::pass; }
        void block(const Event& event) { waits_at = event; }
        void unblock() { waits_at = Event::pass(); }
        // --- used only if several threads share the issue slots of a core ---
        bool runs_on = false;
        Context of_tail;
        std::int64_t quiet_begin = 0;  ///< time at which its last stall or sleep began, and ended
        std::int64_t quiet_end = 0;

        void quiet(std::int64_t from, std::int64_t to) {
            quiet_begin = from;
            quiet_end = to;
        }
        /// Whether the processor uses issue slots at this time, because it neither sleeps nor stalls.
        bool issues(std::int64_t moment) const {
            const bool awake = moment < clock || runs_on || (!done && !blocked());
            return awake && (moment < quiet_begin || moment >= quiet_end);
        }
    };
    /// The core whose stream is played, as a copy that the compiler can keep in registers.
    struct Core {
        unsigned number;
        Hierarchy::L1s l1s;
        std::int64_t epoch_begin;  ///< beginning of the epoch, in 1/256 cycle since the model was switched on
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
    // --- play one event that is not an access; false ends the processor's turn ---
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
    std::int64_t cpi_;  ///< cycles per instruction without stalls, in 1/256 cycle
    /// The same while the other thread of the core issues instructions, too.
    std::int64_t shared_cpi_;
    std::int64_t quantum_;             ///< how far a processor may run ahead of the next, in 1/256 cycle
    std::uint64_t remembered_epochs_;  ///< number of epochs that count in Pace
    TimeRules rules_;
    std::uint64_t epoch_;  ///< nominal length of an epoch, in 1/256 cycle
    unsigned threads_per_core_;
    std::uint64_t cycles_ = 0;
    std::uint64_t idle_ns_ = 0;
    std::vector<Pace> paces_;          ///< by processor
    std::vector<std::uint64_t> base_;  ///< cycles of instructions without stalls, in 1/256 cycle, by core
    /// By processor: waits for issue slots that are less than a cycle and not counted yet, in 1/256 cycle.
    std::vector<std::int64_t> part_;
    std::vector<Cursor> cursors_;  ///< by processor
    ClockQueue clock_queue_;
    std::vector<std::int64_t> sent_;  ///< by interrupt of the epoch: when it was sent, or kNotSent
    /// By processor and number of an awaited event: when the event was played.
    std::vector<std::vector<std::int64_t>> awaited_;
    /// The same for the epoch before; times are relative to the beginning of this epoch, so they are below 0
    /// or small.
    std::vector<std::vector<std::int64_t>> awaited_before_;
};

}  // namespace s80::model
