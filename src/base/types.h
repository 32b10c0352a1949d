// SPDX-License-Identifier: GPL-2.0-or-later
// Types that all parts of the model share.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/labels.h"

namespace s80::model {

/// The number of a line: guest-physical address divided by the line size.
using Line = std::uint32_t;
inline constexpr Line kNoLine = 0xffff'ffffU;

S80_LABELLED_ENUM(Kind, ifetch, load, store, walk);
inline constexpr unsigned kKinds = kLabelCount<Kind>;

S80_LABELLED_ENUM(Privilege, user, kernel);
inline constexpr unsigned kPrivileges = kLabelCount<Privilege>;

/// The class of the process that executes an instruction. Interrupt handlers have the class of the
/// interrupted process. Runs measure the processes of class `session`.
S80_LABELLED_ENUM(ProcessClass, session, delivery, loadgen, idle, kernel, other);
inline constexpr unsigned kProcessClasses = kLabelCount<ProcessClass>;

/// Kernel entry cause of the code that runs: the event by which the kernel was entered last. Three values are
/// not events. `user`: user code. `kernel_thread`: a kernel thread, which has not entered the kernel.
/// `unknown`: the layout of the guest's kernel is not known.
S80_LABELLED_ENUM(KernelEntry, user, system_call, fault, tick, interrupt, soft_interrupt, idle, kernel_thread,
                  unknown);
inline constexpr unsigned kEntries = kLabelCount<KernelEntry>;

/// Number of combinations of privilege and process class, by which many statistics are indexed.
inline constexpr unsigned kGroups = kPrivileges * kProcessClasses;

/// Process class and kernel entry cause of the running code, as one number that indexes statistics.
struct Context {
    std::uint8_t value = 0;
    constexpr Context() = default;
    constexpr explicit Context(std::uint8_t v) : value(v) {}
    constexpr Context(ProcessClass t, KernelEntry e)
        : value(static_cast<std::uint8_t>(static_cast<unsigned>(t) * kEntries + static_cast<unsigned>(e))) {}
    /// For traces that say the privilege, but not the kernel entry cause.
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

/// The place that had the data of an access. `l2`: the core's caches beyond the L1; also the L1 itself, if it
/// lacked permission to store. `group`: the core's group cache. `peer`: caches of another core, or another
/// group cache. `llc`: the shared last-level cache.
enum class Place : std::uint8_t { l1, l2, group, peer, llc, memory };

/// What sent the data of an L2 miss: memory, a cache of another core that had the block in this state, the
/// last-level cache, or the core's group cache. `llc` exists only on machines with a last-level cache, a
/// directory or group caches, `group` only on machines with group caches (Dimensions).
S80_LABELLED_ENUM(Source, memory, M, O, E, S, llc, group);

/// The MOESI state that a state of a protocol counts as.
S80_LABELLED_ENUM(StateClass, M, O, E, S, none);
/// Number of state classes without `none`.
inline constexpr auto kStateClasses = static_cast<unsigned>(StateClass::none);

/// What a processor stalls for. `issue`: the core's other thread uses issue slots. `order`: a conflicting
/// access of another processor must come first. The others name the place that services an access. `llc` and
/// `group` exist on the same machines as in Source.
S80_LABELLED_ENUM(Service, l2, memory, cache, upgrade, issue, order, llc, group);

/// Why the home removes a block from the private caches: the last-level cache needs the block's way, or the
/// directory needs its entry.
S80_LABELLED_ENUM(RecallCause, llc, directory);
inline constexpr unsigned kRecallCauses = kLabelCount<RecallCause>;

/// What can happen to a block of the last-level cache.
S80_LABELLED_ENUM(LlcEvent, fill, eviction, writeback);

/// What can happen to a block of a group cache. `hit`: it moves to the L2 of a core that misses. `recall`:
/// the home's recall invalidates it. `supply`: a core of another group gets the data.
S80_LABELLED_ENUM(GroupEvent, fill, hit, eviction, writeback, invalidation, recall, supply);

/// Resources that have a queue.
S80_LABELLED_ENUM(Resource, bus, memory);

/// An error whose text is for the user: what is wrong, where it is, and what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The machine has more cores or processors than this program supports (base/core_set.h).
struct TooManyCores : Error {
    using Error::Error;
};

}  // namespace s80::model
