// SPDX-License-Identifier: GPL-2.0-or-later
// vCPU context (`Lane`): the recorder's state for one processor of the guest. Every callback uses it, so it
// is compact.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/core_set.h"
#include "base/types.h"
#include "plugin/filter_key.h"
#include "plugin/poll_loop.h"
#include "plugin/polling.h"
#include "stream/window.h"

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

struct Translation {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint64_t physical = 0;  ///< of the page
};

/// The time of a processor, as the recording side knows it, and up to which instruction the processor may
/// execute in this epoch. Times are in 1/256 cycle since the epoch began.
class Share {
public:
    static constexpr std::uint64_t kForever = ~std::uint64_t{0};

    /// An epoch begins. `expected_end`: the time, from now, at which the last epoch ended on this processor.
    /// `known`: the true value of this time for the epoch that ended two epochs before the last one. `cpi`:
    /// 1/256 cycle per instruction without the stalls that are spent. `length`: of the epoch; 0: the clock
    /// does not run.
    void begin_epoch(std::uint64_t instructions, std::int64_t expected_end, std::int64_t known,
                     std::uint64_t cpi, std::int64_t length) {
        if (length_ == 0) {
            leads_.fill(known);
            expected_end = known;
        }
        leads_ = {leads_[1], leads_[2], expected_end};
        // The error is the same in the epochs since, if nothing has corrected it.
        const std::int64_t correction = (known - leads_[0]) / kCorrected;
        for (std::int64_t& lead : leads_) {
            lead += correction;
        }
        cpi_ = cpi;
        length_ = length;
        set(instructions, length != 0 ? leads_[2] : 0);
    }
    /// The processor is at this time.
    void set(std::uint64_t instructions, std::int64_t time) {
        at_ = instructions;
        base_ = time;
        find_end();
    }
    /// The processor stalls.
    void spend(std::int64_t time) {
        base_ += time;
        find_end();
    }
    std::int64_t time(std::uint64_t instructions) const {
        return base_ + static_cast<std::int64_t>((instructions - at_) * cpi_);
    }
    /// Count of instructions at which the processor has passed this time, which is not before its own.
    std::uint64_t reaches(std::int64_t time) const {
        return at_ + static_cast<std::uint64_t>(std::max<std::int64_t>(time - base_, 0)) / cpi_ + 1;
    }
    /// Count of instructions at which the share is used up.
    std::uint64_t end() const { return end_; }

private:
    /// Of the error of the expected times an epoch corrects this part.
    static constexpr std::int64_t kCorrected = 2;

    /// A processor that is far behind executes two epochs in one.
    void find_end() {
        const std::int64_t left = std::clamp<std::int64_t>(length_ - base_, 0, 2 * length_);
        end_ = length_ == 0 ? kForever : at_ + (static_cast<std::uint64_t>(left) + cpi_ - 1) / cpi_;
    }

    std::int64_t base_ = 0;  ///< the time at which the count of instructions was `at_`
    std::uint64_t at_ = 0;
    std::uint64_t cpi_ = 256;
    std::int64_t length_ = 0;
    std::uint64_t end_ = kForever;
    std::array<std::int64_t, 3> leads_{};  ///< expected ends of the last three epochs
};

struct alignas(64) Lane {
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    /// Whether an event of this filter interval represents a load or store of the line.
    bool filtered(std::uint64_t line, model::Kind kind) const {
        const auto entry = line % kFilterEntries;
        const std::uint64_t key = filter_key(line);
        return stores[entry] == key || (kind == model::Kind::load && loads[entry] == key);
    }

    model::Event* out = nullptr;
    model::Event* out_end = nullptr;
    std::uint64_t instructions = 0;  ///< begun by this processor since the start
    std::uint64_t emitted_at = 0;    ///< value of `instructions` at the last event
    /// Value of `instructions` at which the next block asks Recorder::check: the filter interval, the turn of
    /// a contender, the time slice or the share of the epoch ends.
    std::uint64_t check_at = 0;
    std::uint64_t block_id = 0;    ///< of the running block: see BlockWord
    FilterKey filter_key;          ///< of what the filter holds
    std::uint64_t generation = 0;  ///< of the translations, shifted above the page number
    std::uint32_t attention = kUnbound;
    model::Context context;
    /// Contexts of the code that runs, by privilege: user code, kernel code.
    std::array<model::Context, model::kPrivileges> contexts{};
    std::array<std::uint64_t, model::kKinds> accesses{};  ///< in the present context
    /// Instructions by class in the present context. `other` is the remainder.
    std::array<std::uint64_t, model::kInstructionClasses> classes{};

    std::array<std::uint64_t, kFilterEntries> loads{};
    std::array<std::uint64_t, kFilterEntries> stores{};
    std::array<std::uint64_t, kFilterEntries> fetches{};

    unsigned processor = 0;
    std::uint64_t counted = 0;       ///< value of `instructions` at the last change of context
    std::uint64_t window_start = 0;  ///< value of `instructions` when the epoch (`Window`) began
    std::int64_t wake_signal = -1;   ///< interrupt of this epoch that was sent to this processor
    std::int64_t wake_time = 0;      ///< when it was sent: see Share
    Share share;
    std::int64_t began = 0;      ///< time at which it began the epoch
    std::int64_t latest_ns = 0;  ///< of the guest's clock on this processor, simulated
    bool slice_over = false;     ///< the time slice ends before the next block
    /// Value of `instructions` until which it contends for lines: soon after its last conflict, or after a
    /// timer woke it.
    std::uint64_t contends_until = 0;
    std::uint64_t watches_until = 0;   ///< soon after it read the clock: see watches_clock
    unsigned contends_epochs = 0;      ///< after a conflict of its user code it contends for so many epochs
    bool after_pause = false;          ///< the last time slice ended by PAUSE
    bool paused = false;               ///< the same, or it was parked: it waits for a store
    bool stored = false;               ///< in this time slice
    bool poll_stored = false;          ///< in the last time slice, which ended by PAUSE
    bool may_poll = false;             ///< it contends, and stored nothing in the last time slice
    std::uint64_t slice_end = kNever;  ///< value of `instructions` at which the time slice ends
    /// Value of `instructions` from which it is ahead of the next contender: of the blocks that may access a
    /// disputed line it executes none.
    std::uint64_t turn_end = kNever;
    std::uint64_t kernel_turn_end = kNever;  ///< the same for blocks of the kernel
    std::uint64_t interval_end = 0;          ///< value of `instructions` at which the filter interval ends
    bool polls = false;                      ///< this is not the first filter interval of the time slice
    Polling polling;
    PollLoop loop;
    Executed iteration;      ///< of the loop that it is in while it is parked
    bool parked = false;     ///< its polls are not executed: see Windows::park
    bool must_poll = false;  ///< parked, but has not polled in this epoch
    unsigned search = 0;     ///< so many further blocks are looked at for the end of a loop
    bool ends_after_search = false;
    /// Positions in this epoch's stream that ordering edges of other processors name.
    std::vector<std::uint32_t> awaited;
    /// By processor: the last position in its stream that this processor waits for, plus one.
    std::array<std::uint32_t, model::kMaxCores> waits_until{};
    std::uint64_t block = 0;               ///< virtual address of the running block, if it is needed
    std::uint64_t branches_left = kNever;  ///< conditional ones, up to the next that the profile samples
    std::uint32_t followed = 0;            ///< page offset after the sampled branch, plus one; 0: none
    std::uint32_t followed_privilege = 0;
    std::uint64_t sample_at = kNever;  ///< value of `instructions` at which a sample of the profile is due
    std::uint64_t per_cpu = 0;         ///< virtual address of the kernel's area for this processor
    std::uint64_t page_table = 0;      ///< guest-physical address of the top page table (CR3)
    std::uint32_t icr_high = 0;        ///< destination half of the local APIC's command register
    std::uint64_t page_store = 0;      ///< address of the store that hands the phase page over; 0: none due
    std::uint64_t module_at = 0;       ///< value of `instructions` when a module's code last ran
    bool device_copy = false;          ///< the current memcpy counts as an access of a device
    std::array<std::uint64_t, 2> device_lines{};  ///< virtual lines last read and written, plus one
    model::Stream* stream = nullptr;
    std::array<Translation, kTlbEntries> tlb{};
    /// TLB in front of a hashed page table: address space and page of each entry.
    std::array<std::uint64_t, kTlbEntries> hashed_tlb{};

    bool bound() const { return (attention & kUnbound) == 0; }
    bool contends() const { return contends_epochs != 0 || instructions < contends_until; }
    /// Whether it polls until a time.
    bool watches_clock() const { return instructions < watches_until && polling.polls(); }

    Executed executed() const { return {instructions, accesses, classes}; }
    void begin_loop(const void* registers) { loop.begin(registers, executed(), counted); }
    void move_loop(const void* registers) { loop.move(registers, executed(), counted); }
    /// Whether a loop has returned to its beginning that repeats itself.
    bool loop_returned(const void* registers) const {
        return loop.returned(registers, instructions, counted);
    }
    /// Counts iterations of the loop as executed.
    void repeat(std::uint64_t times) {
        instructions += times * iteration.instructions;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            accesses[i] += times * iteration.accesses[i];
        }
        for (std::size_t i = 0; i < classes.size(); ++i) {
            classes[i] += times * iteration.classes[i];
        }
    }

    /// Adds the counts since the last call to the stream's counts of the present context.
    void settle() {
        const std::uint64_t ran = instructions - counted;
        counted = instructions;
        stream->use(context);
        stream->instructions[context.value] += ran;
        auto& by_class = stream->classes[context.value];
        std::uint64_t named = 0;
        for (unsigned i = 0; i + 1 < model::kInstructionClasses; ++i) {
            by_class[i] += classes[i];
            named += classes[i];
        }
        by_class.back() += ran - named;
        classes = {};
        for (unsigned k = 0; k < model::kKinds; ++k) {
            stream->accesses[context.value][k] += accesses[k];
        }
        accesses = {};
    }
    void set_context(model::Context next) {
        settle();
        context = next;
    }
};

/// vCPU contexts by processor.
using Lanes = std::vector<std::unique_ptr<Lane>>;

/// The vCPU context and the TCG state pointer of the running vCPU. One thread runs all vCPUs.
extern Lane* current_lane;
extern void* current_vcpu;

}  // namespace s80::plugin
