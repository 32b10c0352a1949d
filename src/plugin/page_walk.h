// SPDX-License-Identifier: GPL-2.0-or-later
// Walks the guest's page tables in its RAM, as the processor does (Intel SDM, volume 3, 4.5: 4-level paging).
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>

#include "plugin/guest_ram.h"

namespace s80::plugin {

/// Translates a virtual address. `table`: physical address of the top page table (CR3 without its low bits).
/// Calls `visit(physical)` with the guest-physical address of each page-table entry that the walk reads.
/// Returns the guest-physical address, or nothing if the page is not mapped.
template <class Visit>
std::optional<std::uint64_t> walk_page_tables(GuestRam& ram, std::uint64_t table, std::uint64_t address,
                                              Visit&& visit) {
    constexpr std::uint64_t kAddress = 0x000f'ffff'ffff'f000;
    constexpr std::uint64_t kPresent = 1;
    constexpr std::uint64_t kLargePage = 1U << 7;
    constexpr std::uint64_t kIndexMask = 511;
    for (const unsigned shift : {39U, 30U, 21U, 12U}) {
        const std::uint64_t entry_at = table + (address >> shift & kIndexMask) * sizeof(std::uint64_t);
        const std::uint8_t* host = ram.host(entry_at);
        if (host == nullptr) {
            return std::nullopt;
        }
        visit(entry_at);
        std::uint64_t entry = 0;
        std::memcpy(&entry, host, sizeof entry);
        if ((entry & kPresent) == 0) {
            return std::nullopt;
        }
        const std::uint64_t offset = (std::uint64_t{1} << shift) - 1;
        if (shift == 12 || ((entry & kLargePage) != 0 && shift != 39)) {
            return (entry & kAddress & ~offset) | (address & offset);
        }
        table = entry & kAddress;
    }
    return std::nullopt;
}

/// Reads a value at a virtual address; it must not cross a page. Returns nothing if the address is not
/// mapped, or not to RAM. `table`: see walk_page_tables.
template <class T>
std::optional<T> read_virtual(GuestRam& ram, std::uint64_t table, std::uint64_t address) {
    const auto physical = walk_page_tables(ram, table, address, [](std::uint64_t) {});
    const std::uint8_t* host = physical ? ram.host(*physical) : nullptr;
    if (host == nullptr) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, host, sizeof value);
    return value;
}

}  // namespace s80::plugin
