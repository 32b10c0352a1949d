// SPDX-License-Identifier: GPL-2.0-or-later
// Conflicting accesses, in the order in which the guest executes them: two accesses of two processors to a
// line conflict if one of them is a store. Instruction fetches and accesses of devices are not tracked.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/core_set.h"
#include "base/host_memory.h"
#include "base/types.h"

namespace s80::plugin {

/// Finds stores in the streams of this epoch. Conflicts keeps no position for a line that only one processor
/// has accessed. When a second processor accesses the line, Conflicts asks for the position of the last
/// store.
class StorePositions {
public:
    /// Position of the processor's last store to the line in its stream of this epoch. There is one.
    virtual std::uint32_t last_store(unsigned processor, model::Line line) const = 0;

protected:
    ~StorePositions() = default;
};

/// Remembers for each line that was accessed in the current or the last epoch its last store and the readers
/// since. Older accesses are forgotten. Nearly all lines are accessed by one processor alone. For such a line
/// a few bits are enough, which use little of the host's cache. When a second processor accesses the line, it
/// gets a complete record.
class Conflicts {
public:
    /// `lines`: their number. `stores` must outlive this object. Throws Error if address space is exhausted.
    Conflicts(std::size_t lines, const StorePositions& stores);

    /// What an access conflicts with.
    struct Found {
        static constexpr unsigned kNobody = model::kMaxCores;
        static constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
        /// The access conflicts with one of this epoch or the last one: the machine would transfer the line.
        bool transfers = false;
        bool miss = false;     ///< the processor does not have the line
        bool upgrade = false;  ///< a store: this processor and another one have the line
        /// The processor has the line, but processors contend for it: it was transferred in this epoch or the
        /// last one.
        bool disputed = false;
        bool first = false;  ///< the processor's first access to a disputed line in this epoch
        /// Another processor stored to the line in this epoch or the last one. If the access does not
        /// conflict, because the processor has the line, it may be a poll.
        bool contended = false;
        // Accesses of this epoch that come before it:
        unsigned storer = kNobody;
        std::uint32_t stored_at = 0;         ///< position of that store in the storer's stream
        std::int64_t stored_time = kNoTime;  ///< expected time of that store, as written through `when`
        /// Position of the storer's first store after the last access of another processor.
        std::uint32_t first_at = 0;
        /// If no processor has stored to the line in this epoch: the processor that stored last in the epoch
        /// before, if each_stored() reported the line. Then `stored_at` and `stored_time` are the values that
        /// the function passed to each_stored() left there.
        unsigned storer_before = kNobody;
        model::CoreSet readers;  ///< processors
        /// Of a store: the other processors that loaded the line since the last store, in this epoch or the
        /// last one.
        model::CoreSet copies;
        /// Of a store to a line that other processors use too: the caller writes the time of the store there,
        /// and later accesses find it in `stored_time`.
        std::int64_t* when = nullptr;
    };
    /// Records an access of which nothing is found, and returns true: nearly every access, because no other
    /// processor has accessed the line of late. Returns false if something may be found: then load() or
    /// store() must record the access. Both may also be called without this function.
    bool finds_nothing(unsigned processor, model::Line line, model::Kind kind) {
        Recent& r = recent(processor, line);
        if (kind != model::Kind::store && r.loaded == in_slice(line)) {
            return !r.contended && !r.disputed;
        }
        if (kind == model::Kind::store && r.stored_again(in_slice(line))) {
            return r.stored_at == &nowhere_ && !r.disputed;
        }
        Alone& record = alone_[line];
        const Alone a = record.in(epoch_ & kEpochMask, processor);
        if (a.others(processor)) [[unlikely]] {
            record = a;
            return false;
        }
        if (kind == model::Kind::store) {
            record = a.stored();
            r = {0, in_slice(line), &nowhere_, nullptr, false, false};
        } else {
            record = a.loaded();
            r.loaded = in_slice(line);
            r.contended = false;
            r.disputed = false;
        }
        return true;
    }
    Found load(unsigned processor, model::Line line);
    /// `at`: position of the store in the processor's stream.
    Found store(unsigned processor, model::Line line, std::uint32_t at);

    /// The last store to the line stands at this position of its stream, not at the one that store() got.
    void moved(model::Line line, std::uint32_t at);

    /// Calls `fn(storer, stored_at, stored_time)` for each contended line that was stored to in this epoch,
    /// with its last store. `fn` may change the last two: accesses of the next epoch find the changed values.
    template <class Fn>
    void each_stored(Fn&& fn) {
        for (const model::Line line : contended_) {
            const auto [group, i] = find(line);
            if ((group.stored_now >> i & 1) == 0) {
                continue;
            }
            fn(unsigned{group.storer[i]}, group.stored_at[i], group.stored_time[i]);
            group.reported |= static_cast<std::uint8_t>(1U << i);
        }
    }
    void next_epoch();

private:
    /// A line in the epoch in which it was last accessed. Until `kShared` is set, by one processor alone.
    /// (Not a structure of bit fields: compilers write those by parts and then read the whole, which stalls
    /// the host.)
    class Alone {
    public:
        static constexpr unsigned kEpochBits = 32 - 5 - model::kCoreBits;
        static constexpr std::uint32_t kEpoch = (std::uint32_t{1} << kEpochBits) - 1;
        // Since the last store, in this epoch and in the one before:
        static constexpr std::uint32_t kLoadedNow = std::uint32_t{1} << 27;
        static constexpr std::uint32_t kLoadedBefore = kLoadedNow << 1;
        // Including the last store:
        static constexpr std::uint32_t kStoredNow = kLoadedNow << 2;
        static constexpr std::uint32_t kStoredBefore = kLoadedNow << 3;
        static constexpr std::uint32_t kShared = kLoadedNow << 4;  ///< the line has a complete record

        unsigned processor() const { return (word_ & kProcessor) >> kEpochBits; }
        bool has(std::uint32_t flag) const { return (word_ & flag) != 0; }
        /// Whether other processors have accessed the line too.
        bool others(unsigned processor) const {
            return ((word_ ^ processor << kEpochBits) & (kProcessor | kShared)) != 0;
        }
        /// The record in epoch `now`, in which `processor` accesses the line.
        Alone in(std::uint32_t now, unsigned processor) const {
            const std::uint32_t epoch = word_ & kEpoch;
            if (epoch == now) {
                return *this;
            }
            return epoch == now - 1 ? Alone(now | (word_ & (kProcessor | kShared)) |
                                            (word_ & (kLoadedNow | kStoredNow)) << 1)
                                    : Alone(now | processor << kEpochBits);
        }
        Alone loaded() const { return Alone(word_ | kLoadedNow); }
        Alone stored() const { return Alone((word_ & ~(kLoadedNow | kLoadedBefore)) | kStoredNow); }
        void share() { word_ |= kShared; }

    private:
        static constexpr std::uint32_t kProcessor = (kLoadedNow - 1) & ~kEpoch;
        explicit Alone(std::uint32_t word) : word_(word) {}
        std::uint32_t word_;  ///< the last bits of the epoch's number (0: none), the processor, the flags
    };
    static_assert(sizeof(Alone) == 4);
    /// Neighbouring lines are often accessed together: the records of four fit into a line of the host's
    /// cache.
    static constexpr unsigned kLines = 4;
    struct alignas(64) Group {
        model::Line number = model::kNoLine;  ///< of its first line, divided by kLines
        std::uint32_t used = 0;               ///< epoch of the last access; 0: free
        // For each line:
        std::array<std::uint32_t, kLines> stored_at{};
        std::array<std::uint32_t, kLines> first_at{};  ///< see Found
        std::array<std::int64_t, kLines> stored_time{};
        std::array<model::CoreSet, kLines> now{};     ///< readers since the last store, in the epoch `used`
        std::array<model::CoreSet, kLines> before{};  ///< readers since the last store, in the epoch before
        std::array<std::uint8_t, kLines> storer{};    ///< in these two epochs
        // Masks of lines:
        std::uint8_t stored_now = 0;    ///< stored to in the epoch `used`
        std::uint8_t moved_now = 0;     ///< transferred in the epoch `used`
        std::uint8_t moved_before = 0;  ///< transferred in the epoch before
        std::uint8_t listed = 0;        ///< among `contended_` in the epoch `used`
        std::uint8_t reported = 0;      ///< each_stored reported its last store
    };
    static_assert(sizeof(Group) % 64 == 0);
    /// One line of a group.
    struct Place {
        Group& group;
        unsigned line;
        Found conflict(unsigned processor) const;
        void note_transfer(Found& found, unsigned processor) const;
    };
    /// A line that the running processor has accessed in its time slice. Until another processor runs,
    /// further accesses change only the position of its last store.
    struct Recent {
        /// The line, marked by in_slice(), if loaded since the last store of this processor.
        std::uint64_t loaded = 0;
        std::uint64_t stored = 0;
        std::uint32_t* stored_at = nullptr;
        std::int64_t* when = nullptr;
        bool contended = false;  ///< what a further load finds
        bool disputed = false;   ///< what a further access finds

        /// Whether a store only moves the position of the last one.
        bool stored_again(std::uint64_t now) const { return stored == now && loaded != now; }
    };
    static constexpr std::size_t kRecent = 256;
    static constexpr std::size_t kProbes = 4;
    static constexpr std::size_t kSmallest = std::size_t{1} << 12;  ///< groups

    static constexpr std::uint32_t kEpochMask = Alone::kEpoch;

    Place find_shared(model::Line line);
    void share(Alone& alone, model::Line line);

    bool recent(const Group& group) const { return group.used != 0 && group.used + 1 >= epoch_; }
    Group* home(model::Line number) { return &groups_[number * 0x9e3779b1U >> 7 & mask_]; }
    Place find(model::Line line);
    void list(const Place& place, const Found& found, model::Line line);
    Group& make(model::Line number);
    void grow();
    Recent& recent(unsigned processor, model::Line line) {
        if (processor != running_) {
            running_ = processor;
            ++slice_;
        }
        return recent_[line % kRecent];
    }
    std::uint64_t in_slice(model::Line line) const { return slice_ << 32 | line; }

    std::uint32_t epoch_ = 2;  ///< not 1: the epoch before must not be 0, which means none
    unsigned running_ = 0;
    std::uint64_t slice_ = 1;  ///< number of times that the running processor changed, and of epochs
    std::array<Recent, kRecent> recent_{};
    const StorePositions& stores_;
    model::HostMemory memory_;
    Alone* const alone_;                  ///< by line
    std::uint32_t nowhere_ = 0;           ///< `Recent::stored_at` of lines without a complete record
    std::vector<model::Line> contended_;  ///< lines for which processors contended in this epoch
    std::size_t mask_;
    std::vector<Group> groups_;  ///< hash table; kProbes more, for the probes that begin at its last place
};

}  // namespace s80::plugin
