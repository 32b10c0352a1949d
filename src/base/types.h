// SPDX-License-Identifier: GPL-2.0-or-later
// Types that all parts of the model share.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/labels.h"

namespace s80::model {

/// Guest-physical address divided by the line size.
using Line = std::uint32_t;
inline constexpr Line kNoLine = 0xffff'ffffU;

S80_LABELLED_ENUM(Kind, ifetch, load, store, walk);
inline constexpr unsigned kKinds = kLabelCount<Kind>;

S80_LABELLED_ENUM(Privilege, user, kernel);
inline constexpr unsigned kPrivileges = kLabelCount<Privilege>;

/// Process class of an instruction: the class of the process that executes it. An interrupt handler has the
/// class of the interrupted process. The class `session` is the one that is measured.
S80_LABELLED_ENUM(ProcessClass, session, delivery, loadgen, idle, kernel, other);
inline constexpr unsigned kProcessClasses = kLabelCount<ProcessClass>;

/// Kernel entry cause of the code that runs: the event by which the kernel was last entered. Three
/// values are not causes. user: user code. kernel_thread: code of a kernel thread, which has no entry cause.
/// unknown: the guest's kernel layout was not available.
S80_LABELLED_ENUM(KernelEntry, user, system_call, fault, tick, interrupt, soft_interrupt, idle, kernel_thread,
                  unknown);
inline constexpr unsigned kEntries = kLabelCount<KernelEntry>;

/// Index of the statistics by privilege and process class.
inline constexpr unsigned kGroups = kPrivileges * kProcessClasses;

/// Process class and kernel entry cause of the running code in one small number, the index of the statistics
/// by both.
struct Context {
    std::uint8_t value = 0;
    constexpr Context() = default;
    constexpr explicit Context(std::uint8_t v) : value(v) {}
    constexpr Context(ProcessClass t, KernelEntry e)
        : value(static_cast<std::uint8_t>(static_cast<unsigned>(t) * kEntries + static_cast<unsigned>(e))) {}
    /// For traces without kernel entry causes.
    constexpr Context(Privilege p, ProcessClass t)
        : Context(t, p == Privilege::user ? KernelEntry::user : KernelEntry::unknown) {}

    constexpr ProcessClass process_class() const { return static_cast<ProcessClass>(value / kEntries); }
    constexpr KernelEntry entry() const { return static_cast<KernelEntry>(value % kEntries); }
    constexpr unsigned group() const { return kGroup[value]; }

private:
    static const std::array<std::uint8_t, kProcessClasses * kEntries> kGroup;
};
inline constexpr unsigned kContexts = kProcessClasses * kEntries;
inline constexpr std::array<std::uint8_t, kContexts> Context::kGroup = [] {
    std::array<std::uint8_t, kContexts> group{};
    for (unsigned c = 0; c < kContexts; ++c) {
        group[c] = static_cast<std::uint8_t>((c % kEntries == 0 ? 0 : kProcessClasses) + c / kEntries);
    }
    return group;
}();

/// From where the data of an access came. l2: the core's caches beyond the L1, or the L1 if it lacked
/// permission. peer: another core's caches. llc: the shared last-level cache.
enum class Place : std::uint8_t { l1, l2, peer, llc, memory };

/// The source of an L2 miss. llc: only on machines with a home of their own (Dimensions).
S80_LABELLED_ENUM(Source, memory, M, O, E, S, llc);

/// The MOESI state as which a state of a protocol is counted.
S80_LABELLED_ENUM(StateClass, M, O, E, S, none);
/// The number of state classes of blocks, without `none`.
inline constexpr auto kStateClasses = static_cast<unsigned>(StateClass::none);

/// The place that serviced an access that stalls. issue: an instruction, not an access, that waits while the
/// core's other thread takes issue slots. order: an access that waits for a conflicting access of another
/// processor. llc: only on machines with a home of their own.
S80_LABELLED_ENUM(Service, l2, memory, cache, upgrade, issue, order, llc);

/// Why the home takes a block from the private caches: the last-level cache needs its way, or the directory
/// its entry.
S80_LABELLED_ENUM(RecallCause, llc, directory);
inline constexpr unsigned kRecallCauses = kLabelCount<RecallCause>;

/// What happens to a block of the last-level cache.
S80_LABELLED_ENUM(LlcEvent, fill, eviction, writeback);

/// Resources with a queue.
S80_LABELLED_ENUM(Resource, bus, memory);

/// A message for the user: what is wrong, where, and what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The machine has more cores or processors than this program is compiled for (core_set.h).
struct TooManyCores : Error {
    using Error::Error;
};

}  // namespace s80::model
