// SPDX-License-Identifier: GPL-2.0-or-later
// The words that every part of the model shares.
#pragma once
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

/// Whose work an instruction is: told apart by address space.
enum class Party : std::uint8_t { server, loadgen, other };
inline constexpr unsigned kParties = 3;

/// Privilege and party of the code that runs, in one small number: index of the statistics.
struct Context {
    std::uint8_t value = 0;
    constexpr Context() = default;
    constexpr Context(Privilege p, Party t)
        : value(static_cast<std::uint8_t>(static_cast<unsigned>(p) * kParties + static_cast<unsigned>(t))) {}
};
inline constexpr unsigned kContexts = kPrivileges * kParties;

/// Who serviced an L2 miss.
enum class Source : std::uint8_t { memory, M, O, E, S };
inline constexpr unsigned kSources = 5;

/// Textbook name that a protocol's state counts as; the order of `dims.state`.
enum class StateClass : std::uint8_t { M, O, E, S, none };
inline constexpr unsigned kStateClasses = 4;

/// Where an access that stalls was serviced; the order of `dims.service`.
enum class Service : std::uint8_t { l2, memory, cache, upgrade };
inline constexpr unsigned kServices = 4;

/// How a core's L2 relates to its L1s: it holds all that they hold, or nothing of it.
enum class Inclusion : std::uint8_t { inclusive, exclusive };

/// A sentence for the user: what is wrong, where, what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace s80::model
