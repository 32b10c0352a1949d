// SPDX-License-Identifier: GPL-2.0-or-later
// The table [translation] of machine files.
#pragma once
#include <array>
#include <cstdint>

#include "base/key.h"
#include "machine/keys.h"

namespace s80::model {

/// How a data access finds its page after a TLB miss. x86: the guest's own page tables are walked; the TLB is
/// flushed when the address space changes. hashed: the hash of address space and page selects one group of
/// eight entries (128 bytes) of a table outside of the guest's memory, as PowerPC processors do. Entries of
/// other address spaces stay in the TLB.
struct Translation {
    static constexpr std::array<const char*, 2> kWalks{"x86", "hashed"};
    static constexpr std::array kKeys{
        Key{.name = "translation.walks",
            .type = KeyType::name,
            .otherwise = 0,
            .names = kWalks,
            .text = "page tables: those of the guest, or one hashed table as of PowerPC"},
        Key{.name = "translation.entries",
            .least = 16,
            .most = 1024,
            .otherwise = 1024,
            .power_of_two = true,
            .text = "TLB entries, direct mapped, for pages of 4 KB"},
        Key{.name = "translation.page_table",
            .type = KeyType::size,
            .least = 1 << 16,
            .most = 4 * kGiB,
            .otherwise = 64 << 20,
            .power_of_two = true,
            .unit = "bytes",
            .text = "size of the hashed table"}};

    bool hashed = false;
    unsigned entries = kKeys[1].standard<unsigned>();               ///< of the TLB
    std::uint64_t page_table = kKeys[2].standard<std::uint64_t>();  ///< bytes of the hashed table

    static Translation read(const Keys& keys) {
        return {keys.choice(kKeys[0]) != 0, keys.number(kKeys[1]), keys.wide(kKeys[2])};
    }
};

}  // namespace s80::model
