// SPDX-License-Identifier: GPL-2.0-or-later
// The vCPU context (`Vcpu`): what the recorder knows of one processor of the guest. All callbacks use it, so
// it is kept small. State that callbacks rarely use is in the class that owns it.
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

/// Bits of Vcpu::attention: what must be checked before the processor's next block is counted.
enum Attention : std::uint32_t {
    kAddressSpace = 1,  ///< CR3 may have changed
    kHalted = 4,        ///< the processor has executed HLT and sleeps
    kUnbound = 8,       ///< no marker has bound this vCPU yet: nothing is recorded
    kTask = 16,         ///< the kernel may run another task now
};

/// Number of entries of the filter (struct Filter), which is direct mapped by line.
inline constexpr unsigned kFilterEntries = 64;
/// Number of entries of the cache of translations, which is direct mapped by page. A machine with a smaller
/// TLB uses fewer of them.
inline constexpr unsigned kTlbEntries = 1024;

/// A page of the guest has 4 KiB.
inline constexpr unsigned kPageShift = 12;
inline constexpr std::uint64_t kPageMask = (std::uint64_t{1} << kPageShift) - 1;

/// Where the next event of a processor is written. EpochWriter owns it.
struct StreamEnd {
    model::Event* next = nullptr;
    model::Event* limit = nullptr;    ///< end of the storage that this epoch may use
    std::uint64_t emitted_at = 0;     ///< Vcpu::instructions at the last event that was written
    model::Stream* stream = nullptr;  ///< the processor's stream in the open epoch

    /// Position in the stream at which the next event will be.
    std::size_t position() const { return static_cast<std::size_t>(next - stream->events.data()); }
};

/// What a processor has executed since the last Vcpu::settle. All of it belongs to one context
/// (Vcpu::context).
struct ContextCounts {
    std::array<std::uint64_t, model::kKinds> accesses{};
    /// Instructions by class. The class `other` is not counted: it is the remainder.
    std::array<std::uint64_t, model::kInstructionClasses> classes{};
    std::uint64_t since = 0;  ///< Vcpu::instructions at the last Vcpu::settle
};

/// The filter of accesses: the lines that a processor has recorded in this filter interval, in one table for
/// each kind of access. An entry is a FilterKey. Accesses owns it.
struct Filter {
    FilterKey key;
    std::array<std::uint64_t, kFilterEntries> loads{};
    std::array<std::uint64_t, kFilterEntries> stores{};
    std::array<std::uint64_t, kFilterEntries> fetches{};
    std::uint64_t interval_end = 0;  ///< Vcpu::instructions at which the filter interval ends

    /// Whether this filter interval has an event that represents a load or store of the line: a store, or for
    /// a load also a load.
    bool holds(std::uint64_t line, model::Kind kind) const {
        const auto entry = line % kFilterEntries;
        const std::uint64_t wanted = key(line);
        return stores[entry] == wanted || (kind == model::Kind::load && loads[entry] == wanted);
    }
    /// Begins the next filter interval, which empties the filter. `end`: value of `interval_end`.
    void begin_interval(std::uint64_t end) {
        interval_end = end;
        if (!key.next()) {
            loads.fill(0);
            stores.fill(0);
            fetches.fill(0);
        }
    }
};

/// The time slice of a processor, and whether the processor contends for lines. SliceScheduler owns it.
struct Slice {
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    bool over = false;           ///< the time slice ends before the next block
    std::uint64_t end = kNever;  ///< Vcpu::instructions at which the time slice ends; kNever: not bounded
    /// Vcpu::instructions from which the processor is ahead in time of the next contender. From there on it
    /// does not begin a block that may access a disputed line.
    std::uint64_t contention_end = kNever;
    std::uint64_t kernel_contention_end = kNever;  ///< the same for such blocks of kernel code
    /// Vcpu::instructions up to which the processor contends for lines. Set at a conflict, and when a timer
    /// wakes the processor.
    std::uint64_t contends_until = 0;
    /// Number of epochs, this one included, in which the processor contends after a conflict of user code.
    unsigned contends_epochs = 0;
    /// The processor read the clock, and may poll it up to this instruction (Vcpu::watches_clock).
    std::uint64_t watches_until = 0;
    bool after_pause = false;  ///< the last time slice ended by PAUSE
    /// The last time slice ended by PAUSE, or the processor was parked: it waits for a store.
    bool paused = false;
    bool stored = false;       ///< the processor stored in this time slice
    bool poll_stored = false;  ///< the last time slice ended by PAUSE, and the processor stored in it
    bool may_poll = false;     ///< the processor contends, and stored nothing in its last time slice
    bool reads_again = false;  ///< a later filter interval than the first one of this time slice has begun
};

/// How a processor polls. SliceScheduler owns it, except the two fields of the search, which Accesses owns.
struct Polls {
    Polling recent;  ///< the lines that the processor loaded in its last filter intervals
    PollLoop loop;
    Executed iteration;      ///< what one iteration of the loop executes in which the processor is parked
    bool parked = false;     ///< the processor's polls are counted, but not executed: see Epochs::park
    bool must_poll = false;  ///< the processor is parked, but must execute one poll in this epoch
    /// Number of further blocks in which Accesses searches the end of a possible polling loop; 0: no search.
    unsigned search = 0;
    bool ends_after_search = false;
};

struct Translation {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t physical = 0;  ///< guest-physical address of the page
};

/// The cached translations of a processor. GuestMemory owns them.
struct Translations {
    /// Number of the valid generation, shifted to the bits above a page number; entries of others are
    /// invalid.
    std::uint64_t generation = 0;
    std::uint64_t page_table = 0;  ///< guest-physical address of the top page table, from CR3
    std::array<Translation, kTlbEntries> tlb{};
    /// The modelled TLB in front of a hashed page table: address space and page of each entry.
    std::array<std::uint64_t, kTlbEntries> hashed{};
};

/// What the profile samples of a processor. MissNotes owns it.
struct Sampled {
    std::uint64_t block = 0;  ///< virtual address of the running block
    /// Conditional branches up to and including the next sampled one.
    std::uint64_t branches_left = Slice::kNever;
    /// If a branch has just been sampled: page offset of the code after it, plus one; 0: no branch.
    std::uint32_t followed = 0;
    std::uint32_t followed_privilege = 0;
    std::uint64_t due_at = Slice::kNever;  ///< Vcpu::instructions at which the next sample is due
};

/// Copies by the kernel that count as accesses of devices. Accesses owns it.
struct DeviceCopies {
    bool copies = false;          ///< the memcpy that runs counts as a device's access
    std::uint64_t module_at = 0;  ///< Vcpu::instructions at the end of the last block of a kernel module
    /// Last line that the copy loaded, and last line that it stored to: number of the virtual line plus one;
    /// 0: none.
    std::array<std::uint64_t, 2> lines{};
};

struct alignas(64) Vcpu {
    static constexpr std::uint64_t kNever = Slice::kNever;

    // These members are used for each block or access. They are at the beginning, so that they share few
    // lines of the host's cache.
    StreamEnd stream;
    std::uint64_t instructions = 0;  ///< instructions that this processor has begun since QEMU started
    /// The next block calls Accesses::check() if `instructions` has reached this value: the filter interval,
    /// the lead of a contender, the time slice or the share of the epoch may be over.
    std::uint64_t check_at = 0;
    std::uint64_t block_id = 0;  ///< number of the running block: BlockWord::id
    std::uint32_t attention = kUnbound;
    model::Context context;
    /// Context of the code that runs, by privilege: in user code, in kernel code.
    std::array<model::Context, model::kPrivileges> contexts{};
    ContextCounts counts;
    Filter filter;

    unsigned processor = 0;
    Share share;
    Slice slice;
    Polls polls;
    DeviceCopies device;
    Sampled sampled;
    /// Virtual address at which the next store hands over the phase page; 0: none is expected.
    std::uint64_t page_store = 0;
    Translations translations;

    bool bound() const { return (attention & kUnbound) == 0; }
    bool awake() const { return bound() && (attention & kHalted) == 0; }
    /// Whether the processor has instructions to execute in this epoch.
    bool has_left() const {
        return awake() && (!polls.parked || polls.must_poll) && instructions < share.end();
    }
    std::int64_t time() const { return share.time(instructions); }
    bool contends() const { return slice.contends_epochs != 0 || instructions < slice.contends_until; }
    /// Whether the processor polls until a time: it loads the same lines again and again, and reads the
    /// clock.
    bool watches_clock() const { return instructions < slice.watches_until && polls.recent.polls(); }
    /// Makes the time slice end before the next block.
    void end_before_next_block() {
        slice.over = true;
        check_at = 0;
    }

    Executed executed() const { return {instructions, counts.accesses, counts.classes}; }
    void begin_loop(const void* registers) { polls.loop.begin(registers, executed(), counts.since); }
    void move_loop(const void* registers) { polls.loop.move(registers, executed(), counts.since); }
    /// Whether the processor is back at the beginning of a polling loop, with the same registers. See
    /// PollLoop.
    bool loop_returned(const void* registers) const {
        return polls.loop.returned(registers, instructions, counts.since);
    }
    /// Counts this number of iterations of the loop in which the processor is parked as executed.
    void repeat(std::uint64_t times) {
        instructions += times * polls.iteration.instructions;
        for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
            counts.accesses[i] += times * polls.iteration.accesses[i];
        }
        for (std::size_t i = 0; i < counts.classes.size(); ++i) {
            counts.classes[i] += times * polls.iteration.classes[i];
        }
    }

    /// Adds `counts`, and the instructions since the last call, to the stream's counts of the present
    /// context.
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

/// The vCPU contexts, by the number of the guest's processor.
using VcpuList = std::vector<std::unique_ptr<Vcpu>>;

/// The context of the vCPU that executes, null before the first block, and QEMU's state of this vCPU, null if
/// no time slice runs. One thread executes all vCPUs.
extern Vcpu* running_vcpu;
extern void* running_state;

}  // namespace s80::plugin
