// SPDX-License-Identifier: GPL-2.0-or-later
// vCPU context (`Vcpu`): the recorder's state for one processor of the guest. Every callback uses it, so it
// is compact. What callbacks rarely use is in the class that owns it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.h"
#include "plugin/filter_key.h"
#include "plugin/poll_loop.h"
#include "plugin/polling.h"
#include "plugin/share.h"
#include "stream/epoch.h"

namespace s80::plugin {

/// Checks that are pending before the next block of a processor is counted.
enum Attention : std::uint32_t {
    kAddressSpace = 1,  ///< CR3 may have changed
    kHalted = 4,        ///< the processor slept
    kUnbound = 8,       ///< no marker has bound this vCPU yet: nothing is recorded
    kTask = 16,         ///< the kernel may have switched to another task
};

/// Recently used lines that need not be recorded again: direct mapped, keyed by line and filter interval.
inline constexpr unsigned kFilterEntries = 64;
/// Cached translations, direct mapped by page. At most this many are used.
inline constexpr unsigned kTlbEntries = 1024;

/// Pages of the guest: 4 KiB.
inline constexpr unsigned kPageShift = 12;
inline constexpr std::uint64_t kPageMask = (std::uint64_t{1} << kPageShift) - 1;

/// Where the next event of a processor goes. EpochWriter owns it.
struct StreamEnd {
    model::Event* next = nullptr;
    model::Event* limit = nullptr;    ///< end of the storage that may be used
    std::uint64_t emitted_at = 0;     ///< Vcpu::instructions at the last event
    model::Stream* stream = nullptr;  ///< of this epoch

    /// Position of the next event.
    std::size_t position() const { return static_cast<std::size_t>(next - stream->events.data()); }
};

/// What a processor has executed in its present context since Vcpu::settle.
struct ContextCounts {
    std::array<std::uint64_t, model::kKinds> accesses{};
    /// Instructions by class. `other` is the remainder.
    std::array<std::uint64_t, model::kInstructionClasses> classes{};
    std::uint64_t since = 0;  ///< Vcpu::instructions at the last Vcpu::settle
};

/// The lines that a processor has recorded in this filter interval. Accesses owns it.
struct Filter {
    FilterKey key;
    std::array<std::uint64_t, kFilterEntries> loads{};
    std::array<std::uint64_t, kFilterEntries> stores{};
    std::array<std::uint64_t, kFilterEntries> fetches{};
    std::uint64_t interval_end = 0;  ///< Vcpu::instructions at which the filter interval ends

    /// Whether an event of this filter interval represents a load or store of the line.
    bool holds(std::uint64_t line, model::Kind kind) const {
        const auto entry = line % kFilterEntries;
        const std::uint64_t wanted = key(line);
        return stores[entry] == wanted || (kind == model::Kind::load && loads[entry] == wanted);
    }
    /// The next filter interval begins.
    void begin_interval(std::uint64_t end) {
        interval_end = end;
        if (!key.next()) {
            loads.fill(0);
            stores.fill(0);
            fetches.fill(0);
        }
    }
};

/// A processor's time slice, and whether it contends for lines. SliceScheduler owns it.
struct Slice {
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    bool over = false;           ///< the time slice ends before the next block
    std::uint64_t end = kNever;  ///< Vcpu::instructions at which it ends
    /// Vcpu::instructions from which the processor is ahead of the next contender: of the blocks that may
    /// access a disputed line it executes none.
    std::uint64_t contention_end = kNever;
    std::uint64_t kernel_contention_end = kNever;  ///< the same for blocks of the kernel
    /// Vcpu::instructions until which the processor contends for lines: soon after its last conflict, or
    /// after a timer woke it.
    std::uint64_t contends_until = 0;
    unsigned contends_epochs = 0;     ///< after a conflict of its user code it contends for so many epochs
    std::uint64_t watches_until = 0;  ///< soon after it read the clock: see Vcpu::watches_clock
    bool after_pause = false;         ///< the last time slice ended by PAUSE
    /// The last time slice ended by PAUSE or by parking: the processor waits for a store.
    bool paused = false;
    bool stored = false;       ///< whether the processor stored in this time slice
    bool poll_stored = false;  ///< whether it stored in the last time slice, which ended by PAUSE
    bool may_poll = false;     ///< it contends, and stored nothing in the last time slice
    bool reads_again = false;  ///< the first filter interval of the time slice is over
};

/// The polls of a processor. SliceScheduler owns them, except the fields of the search, which Accesses owns.
struct Polls {
    Polling recent;  ///< the lines that the processor loaded in its last filter intervals
    PollLoop loop;
    Executed iteration;      ///< one iteration of the loop in which the processor is parked
    bool parked = false;     ///< its polls are counted, but not executed: see Epochs::park
    bool must_poll = false;  ///< parked, but has not polled in this epoch
    unsigned search = 0;     ///< so many more blocks are searched for the end of a loop
    bool ends_after_search = false;
};

struct Translation {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t physical = 0;  ///< of the page
};

/// The translations of a processor. GuestMemory owns them.
struct Translations {
    std::uint64_t generation = 0;  ///< number of the valid translations, shifted above the page number
    std::uint64_t page_table = 0;  ///< guest-physical address of the top page table (CR3)
    std::array<Translation, kTlbEntries> tlb{};
    /// TLB in front of a hashed page table: address space and page of each entry.
    std::array<std::uint64_t, kTlbEntries> hashed{};
};

/// Sampling of a processor for the profile. MissNotes owns it.
struct Sampled {
    std::uint64_t block = 0;                      ///< virtual address of the running block
    std::uint64_t branches_left = Slice::kNever;  ///< conditional branches up to the next one that is sampled
    /// Page offset of the code after the sampled branch, plus one; 0: no branch is sampled.
    std::uint32_t followed = 0;
    std::uint32_t followed_privilege = 0;
    std::uint64_t due_at = Slice::kNever;  ///< Vcpu::instructions at which a sample is due
};

/// Copies by a processor that count as accesses of devices. Accesses owns them.
struct DeviceCopies {
    bool copies = false;                   ///< the current memcpy counts as an access of a device
    std::uint64_t module_at = 0;           ///< Vcpu::instructions when a module's code last ran
    std::array<std::uint64_t, 2> lines{};  ///< virtual lines last read and written, plus one
};

struct alignas(64) Vcpu {
    static constexpr std::uint64_t kNever = Slice::kNever;

    // Used at each block or access, and therefore together in the first lines of the host's cache.
    StreamEnd stream;
    std::uint64_t instructions = 0;  ///< instructions that this processor has begun since the start
    /// From this value of `instructions` on, the next block calls Accesses::check(): a filter interval, the
    /// turn of a contender, the time slice or the share of the epoch ends.
    std::uint64_t check_at = 0;
    std::uint64_t block_id = 0;  ///< of the running block: see BlockWord
    std::uint32_t attention = kUnbound;
    model::Context context;
    /// Contexts of the code that runs, by privilege: user code, kernel code.
    std::array<model::Context, model::kPrivileges> contexts{};
    ContextCounts counts;
    Filter filter;

    unsigned processor = 0;
    Share share;
    Slice slice;
    Polls polls;
    DeviceCopies device;
    Sampled sampled;
    std::uint64_t page_store = 0;  ///< address of the store that hands the phase page over; 0: none due
    Translations translations;

    bool bound() const { return (attention & kUnbound) == 0; }
    bool awake() const { return bound() && (attention & kHalted) == 0; }
    /// Whether the processor has instructions to execute in this epoch.
    bool has_left() const {
        return awake() && (!polls.parked || polls.must_poll) && instructions < share.end();
    }
    std::int64_t time() const { return share.time(instructions); }
    bool contends() const { return slice.contends_epochs != 0 || instructions < slice.contends_until; }
    /// Whether it polls until a time.
    bool watches_clock() const { return instructions < slice.watches_until && polls.recent.polls(); }
    /// The next block ends the time slice.
    void end_before_next_block() {
        slice.over = true;
        check_at = 0;
    }

    Executed executed() const { return {instructions, counts.accesses, counts.classes}; }
    void begin_loop(const void* registers) { polls.loop.begin(registers, executed(), counts.since); }
    void move_loop(const void* registers) { polls.loop.move(registers, executed(), counts.since); }
    /// Whether a loop has returned to its beginning that repeats itself.
    bool loop_returned(const void* registers) const {
        return polls.loop.returned(registers, instructions, counts.since);
    }
    /// Counts iterations of the loop as executed.
    void repeat(std::uint64_t times) {
        instructions += times * polls.iteration.instructions;
        for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
            counts.accesses[i] += times * polls.iteration.accesses[i];
        }
        for (std::size_t i = 0; i < counts.classes.size(); ++i) {
            counts.classes[i] += times * polls.iteration.classes[i];
        }
    }

    /// Adds the counts since the last call to the stream's counts of the present context.
    void settle() {
        const std::uint64_t ran = instructions - counts.since;
        counts.since = instructions;
        model::Stream& to = *stream.stream;
        to.use(context);
        to.instructions[context.value] += ran;
        auto& by_class = to.classes[context.value];
        std::uint64_t named = 0;
        for (unsigned i = 0; i + 1 < model::kInstructionClasses; ++i) {
            by_class[i] += counts.classes[i];
            named += counts.classes[i];
        }
        by_class.back() += ran - named;
        counts.classes = {};
        for (unsigned k = 0; k < model::kKinds; ++k) {
            to.accesses[context.value][k] += counts.accesses[k];
        }
        counts.accesses = {};
    }
    void set_context(model::Context next) {
        settle();
        context = next;
    }
};

/// vCPU contexts by processor.
using VcpuList = std::vector<std::unique_ptr<Vcpu>>;

/// The context of the running vCPU, and its TCG state. One thread runs all vCPUs.
extern Vcpu* running_vcpu;
extern void* running_state;

}  // namespace s80::plugin
