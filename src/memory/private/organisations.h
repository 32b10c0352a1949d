// SPDX-License-Identifier: GPL-2.0-or-later
// The list of organisations of private caches.
#pragma once
#include "memory/private/exclusive.h"
#include "memory/private/inclusive.h"
#include "memory/private/inclusive_gem5.h"

namespace s80::model {

/// An object that stands for the class of an organisation.
template <class Caches>
struct Organisation {
    static constexpr const char* kName = Caches::kName;
};

template <class... Caches>
struct OrganisationList {
    static constexpr std::array kNames{Caches::kName...};

    /// Calls `fn(organisation)` with the value of the organisation that has this number.
    template <class Fn>
    static auto call(unsigned number, Fn&& fn) {
        using Result = std::common_type_t<decltype(fn(Organisation<Caches>{}))...>;
        constexpr std::array kCalls{+[](Fn& f) -> Result { return f(Organisation<Caches>{}); }...};
        return kCalls[number](fn);
    }
};

/// State files contain positions in this list, so append new organisations.
using Organisations =
    OrganisationList<Inclusive, Exclusive<MoveOrder::gem5>, Exclusive<MoveOrder::textbook>, InclusiveGem5>;

inline constexpr Key kInclusionKey{
    .name = "l2.inclusion",
    .type = KeyType::name,
    .otherwise = 0,
    .names = Organisations::kNames,
    .text =
        "of the L1s; exclusive: in the order of gem5's MOESI_hammer; exclusive-textbook: the L2 is "
        "searched before it takes the victim; inclusive-gem5: in the order of gem5's MESI_Three_Level"};

}  // namespace s80::model
