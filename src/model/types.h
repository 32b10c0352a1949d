// SPDX-License-Identifier: GPL-2.0-or-later
// The words that every part of the model shares.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace s80::model {

/// Guest-physical address divided by the line size.
using Line = std::uint32_t;
inline constexpr Line kNoLine = 0xffff'ffffU;

/// Holder masks are 32 bits wide.
inline constexpr unsigned kMaxCores = 32;

enum class Kind : std::uint8_t { ifetch, load, store, walk };
inline constexpr unsigned kKinds = 4;

enum class Privilege : std::uint8_t { user, kernel };
inline constexpr unsigned kPrivileges = 2;

/// Whose work an instruction is: the process that runs it, or that an interrupt was taken in. The paper's
/// population is `session`.
enum class Party : std::uint8_t { session, delivery, loadgen, idle, kernel, other };
inline constexpr unsigned kParties = 6;

/// How the processor came to run the code: not at all (user), or by what it last entered the kernel. Code of
/// a kernel thread has entered it by nothing; unknown is where nobody told.
enum class Entry : std::uint8_t {
    user,
    system_call,
    fault,
    tick,
    interrupt,
    soft_interrupt,
    idle,
    kernel_thread,
    unknown
};
inline constexpr unsigned kEntries = 9;

/// Index of the statistics that tell privilege and class: `dims.privilege` x `dims.class`.
inline constexpr unsigned kGroups = kPrivileges * kParties;

/// Class and entry of the code that runs, in one small number: index of the statistics that tell both.
struct Context {
    std::uint8_t value = 0;
    constexpr Context() = default;
    constexpr explicit Context(std::uint8_t v) : value(v) {}
    constexpr Context(Party t, Entry e)
        : value(static_cast<std::uint8_t>(static_cast<unsigned>(t) * kEntries + static_cast<unsigned>(e))) {}
    /// Where nobody tells entries apart.
    constexpr Context(Privilege p, Party t)
        : Context(t, p == Privilege::user ? Entry::user : Entry::unknown) {}

    constexpr Party party() const { return static_cast<Party>(value / kEntries); }
    constexpr Entry entry() const { return static_cast<Entry>(value % kEntries); }
    constexpr unsigned group() const { return kGroup[value]; }

private:
    static const std::array<std::uint8_t, kParties * kEntries> kGroup;
};
inline constexpr unsigned kContexts = kParties * kEntries;
inline constexpr std::array<std::uint8_t, kContexts> Context::kGroup = [] {
    std::array<std::uint8_t, kContexts> group{};
    for (unsigned c = 0; c < kContexts; ++c) {
        group[c] = static_cast<std::uint8_t>((c % kEntries == 0 ? 0 : kParties) + c / kEntries);
    }
    return group;
}();

/// Who serviced an L2 miss.
enum class Source : std::uint8_t { memory, M, O, E, S };
inline constexpr unsigned kSources = 5;

/// Textbook name that a protocol's state counts as; the order of `dims.state`.
enum class StateClass : std::uint8_t { M, O, E, S, none };
inline constexpr unsigned kStateClasses = 4;

/// Where an access that stalls was serviced; the order of `dims.service`.
/// issue: not an access but an instruction, which waits while the core's other thread takes issue slots.
enum class Service : std::uint8_t { l2, memory, cache, upgrade, issue };
inline constexpr unsigned kServices = 5;

/// What a request may have to wait for; the order of `dims.resource`.
enum class Resource : std::uint8_t { bus, memory };

/// How a core's L2 relates to its L1s: it holds all that they hold, or nothing of it.
enum class Inclusion : std::uint8_t { inclusive, exclusive };

/// A sentence for the user: what is wrong, where, what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace s80::model
