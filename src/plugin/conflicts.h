// SPDX-License-Identifier: GPL-2.0-or-later
// Finds conflicting accesses, in the order in which the guest executes them. Two accesses conflict if they
// are of different processors, to the same line, and one of them is a store. Instruction fetches and accesses
// of devices are not tracked.
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

/// Answers where a store is in the streams of this epoch; EpochWriter implements it. Conflicts does not store
/// positions for a line that only one processor has accessed, because nearly all lines are of this kind. When
/// a second processor accesses the line, Conflicts asks for the position of the last store.
class StorePositions {
public:
    /// Position of the processor's last store to the line in the processor's stream of this epoch. Call it
    /// only if there is such a store.
    virtual std::uint32_t last_store(unsigned processor, model::Line line) const = 0;

protected:
    ~StorePositions() = default;
};

/// Remembers, for each line that was accessed in this epoch or the last, the last store and the processors
/// that loaded the line since. Forgets older accesses. Nearly all lines are accessed by one processor alone:
/// four bytes are enough for such a line (Alone), which use little of the host's cache. When a second
/// processor accesses the line, it gets a complete record (Group).
class Conflicts {
public:
    /// `lines`: number of lines of the guest's memory. `stores` must outlive this object. Throws Error if the
    /// process has no address space left.
    Conflicts(std::size_t lines, const StorePositions& stores);

    /// What load() or store() finds out about an access. "Before" means before this access in the guest's
    /// execution.
    struct Found {
        static constexpr unsigned kNobody = model::kMaxCores;
        static constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
        /// The machine would transfer the line or its ownership: the access conflicts with one of this epoch
        /// or the last.
        bool transfers = false;
        bool miss = false;  ///< the processor does not have the line, because another one stored to it
        /// the access is a store, and both this processor and another one have the line
        bool upgrade = false;
        /// The processor has the line, but processors contend for it: the line was transferred in this epoch
        /// or the last.
        bool disputed = false;
        bool first = false;  ///< this is the processor's first access in this epoch to a disputed line
        /// The last store of this epoch or the last was by another processor. If `transfers` is false, the
        /// processor already has the stored value, so this access may be a poll.
        bool contended = false;
        // If `miss` is true and the last store was in this epoch, that store:
        /// The processor that stored; kNobody: no such store
        unsigned storer = kNobody;
        std::uint32_t stored_at = 0;  ///< position of this store in the stream of `storer`
        /// Expected time of this store, which was written through `when`; kNoTime: not known
        std::int64_t stored_time = kNoTime;
        /// Position of the first store by `storer` since another processor last accessed the line.
        std::uint32_t first_at = 0;
        /// If the last store was in the epoch before: the processor that stored, provided that each_stored()
        /// has reported the line; otherwise kNobody. `stored_at` and `stored_time` are then the values that
        /// the callback of each_stored() left in the record.
        unsigned storer_before = kNobody;
        /// Of a store: the other processors that loaded the line since the last store, in this epoch.
        model::CoreSet readers;
        /// Of a store: the other processors that loaded the line since the last store, in this epoch or the
        /// last.
        model::CoreSet copies;
        /// Of a store to a line with a complete record: the place for the expected time of this store. The
        /// caller writes the time there; later accesses find it as `stored_time`. Null: nothing to write.
        std::int64_t* when = nullptr;
    };
    /// The fast path of load() and store(). Records the access and returns true if no other processor has
    /// accessed the line in this epoch or the last; this holds for nearly all accesses. Returns false,
    /// without recording the access, if it may conflict: the caller must then call load() or store(). These
    /// two may also be called without this function.
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
    /// Records a load or page walk, and returns what it conflicts with.
    Found load(unsigned processor, model::Line line);
    /// Records a store, and returns what it conflicts with. `at`: position of the store in the processor's
    /// stream.
    Found store(unsigned processor, model::Line line, std::uint32_t at);

    /// Corrects the position of the last store to the line: it is `at`, not the one that the caller passed to
    /// store(). Edges before the store have moved it.
    void moved(model::Line line, std::uint32_t at);

    /// Calls `fn(storer, stored_at, stored_time)` for the last store of this epoch to each line for which
    /// processors contend. `fn` gets references to the last two arguments and may change them: accesses of
    /// the next epoch then find the changed values (Found::storer_before).
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
    /// The short record of a line: the epoch of its last access, and the only processor that has accessed it,
    /// until `kShared` is set. Not a structure of bit fields: compilers write the fields one by one and then
    /// read the whole word, which stalls the host.
    class Alone {
    public:
        static constexpr unsigned kEpochBits = 32 - 5 - model::kCoreBits;
        static constexpr std::uint32_t kEpoch = (std::uint32_t{1} << kEpochBits) - 1;
        // Flags. The processor has loaded the line since the last store, in this epoch or in the epoch
        // before:
        static constexpr std::uint32_t kLoadedNow = std::uint32_t{1} << 27;
        static constexpr std::uint32_t kLoadedBefore = kLoadedNow << 1;
        // The processor has stored to the line, in this epoch or in the epoch before:
        static constexpr std::uint32_t kStoredNow = kLoadedNow << 2;
        static constexpr std::uint32_t kStoredBefore = kLoadedNow << 3;
        /// Several processors have accessed the line: a Group has the complete record.
        static constexpr std::uint32_t kShared = kLoadedNow << 4;

        unsigned processor() const { return (word_ & kProcessor) >> kEpochBits; }
        bool has(std::uint32_t flag) const { return (word_ & flag) != 0; }
        /// Whether a processor other than `processor` has accessed the line.
        bool others(unsigned processor) const {
            return ((word_ ^ processor << kEpochBits) & (kProcessor | kShared)) != 0;
        }
        /// This record brought up to date: as it is in epoch `now`, in which `processor` accesses the line.
        /// Flags of older epochs are dropped.
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
        /// Low bits: last bits of the epoch's number (0: never accessed); then the processor; then the flags.
        std::uint32_t word_;
    };
    static_assert(sizeof(Alone) == 4);
    /// Number of lines in a Group. Neighbouring lines are often accessed together, and the records of four
    /// lines share lines of the host's cache.
    static constexpr unsigned kLines = 4;
    struct alignas(64) Group {
        model::Line number = model::kNoLine;  ///< number of the first line, divided by kLines
        std::uint32_t used = 0;               ///< epoch of the last access; 0: this Group is free
        // --- by line ---
        std::array<std::uint32_t, kLines> stored_at{};
        std::array<std::uint32_t, kLines> first_at{};  ///< see Found::first_at
        std::array<std::int64_t, kLines> stored_time{};
        /// Processors that loaded since the last store, in the epoch `used`.
        std::array<model::CoreSet, kLines> now{};
        /// Processors that loaded since the last store, in the epoch before `used`.
        std::array<model::CoreSet, kLines> before{};
        /// Processor of the last store in these two epochs, or kNobody.
        std::array<std::uint8_t, kLines> storer{};
        // --- one bit for each line ---
        std::uint8_t stored_now = 0;    ///< stored to in the epoch `used`
        std::uint8_t moved_now = 0;     ///< transferred in the epoch `used`
        std::uint8_t moved_before = 0;  ///< transferred in the epoch before `used`
        std::uint8_t listed = 0;        ///< the line is in `contended_`
        std::uint8_t reported = 0;      ///< each_stored() has reported the last store
    };
    static_assert(sizeof(Group) % 64 == 0);
    /// One line of a Group.
    struct Place {
        Group& group;
        unsigned line;
        Found conflict(unsigned processor) const;
        void note_transfer(Found& found, unsigned processor) const;
    };
    /// Result of the running processor's last access to a line in this time slice. While no other processor
    /// runs, repeated accesses have the same result; only the position of the last store changes.
    struct Recent {
        /// The line, combined with the number of the time slice (in_slice), if the processor has loaded it
        /// since its own last store; 0: none.
        std::uint64_t loaded = 0;
        std::uint64_t stored = 0;
        std::uint32_t* stored_at = nullptr;
        std::int64_t* when = nullptr;
        bool contended = false;  ///< Found::contended of a repeated load
        bool disputed = false;   ///< Found::disputed of a repeated load or store

        /// Whether a store repeats the last store: only the position of the last store changes. `now`: see
        /// in_slice.
        bool stored_again(std::uint64_t now) const { return stored == now && loaded != now; }
    };
    static constexpr std::size_t kRecent = 256;
    static constexpr std::size_t kProbes = 4;
    /// Initial size of the hash table, in groups.
    static constexpr std::size_t kSmallest = std::size_t{1} << 12;

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

    std::uint32_t epoch_ = 2;  ///< not 1, because the epoch before must not be 0, which means "never"
    unsigned running_ = 0;
    /// Number of the time slice; also incremented at each epoch and when the hash table grows.
    std::uint64_t slice_ = 1;
    std::array<Recent, kRecent> recent_{};
    const StorePositions& stores_;
    model::HostMemory memory_;
    Alone* const alone_;  ///< short records, by line
    /// target of `Recent::stored_at` for lines without a complete record; its value is not used
    std::uint32_t nowhere_ = 0;
    std::vector<model::Line> contended_;  ///< lines for which processors contended in this epoch
    std::size_t mask_;
    /// Hash table with open addressing; kProbes more places than the mask reaches, so that probes need not
    /// wrap around.
    std::vector<Group> groups_;
};

}  // namespace s80::plugin
