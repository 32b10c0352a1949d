// SPDX-License-Identifier: GPL-2.0-or-later
// The table [bandwidth] of machine files.
#pragma once
#include <array>

#include "base/key.h"
#include "machine/keys.h"

namespace s80::model {

/// Service time of each resource in cycles. 0: unlimited bandwidth.
struct Bandwidth {
    /// The limit is a million cycles, which is the service time of a disk.
    static constexpr std::array kKeys{
        Key{.name = "bandwidth.bus",
            .most = 1'000'000,
            .otherwise = 0,
            .unit = "cycles",
            .text = "service time of each miss, upgrade and writeback of an evicted block"},
        Key{.name = "bandwidth.memory",
            .most = 1'000'000,
            .otherwise = 0,
            .unit = "cycles",
            .text = "service time of each line that memory reads or writes"},
        Key{.name = "bandwidth.banks",
            .least = 1,
            .most = 1024,
            .otherwise = 1,
            .text = "memory banks; the line number selects the bank"}};

    unsigned bus = kKeys[0].standard<unsigned>();
    unsigned memory = kKeys[1].standard<unsigned>();  ///< service time of one bank
    unsigned banks = kKeys[2].standard<unsigned>();

    static Bandwidth read(const Keys& keys) {
        return {keys.number(kKeys[0]), keys.number(kKeys[1]), keys.number(kKeys[2])};
    }
};

}  // namespace s80::model
