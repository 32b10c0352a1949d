// SPDX-License-Identifier: GPL-2.0-or-later
// A hashed page table like PowerPC's (PowerPC Architecture Book III, "Hashed Page Table"). The hash of a
// page's number selects a group of eight 16-byte entries; a page walk loads this group.
#pragma once
#include <cstdint>

namespace s80::plugin {

class HashedTable {
public:
    static constexpr unsigned kGroupShift = 7;  ///< a group is 128 bytes

    /// `bytes`: size of the table, a power of two.
    explicit HashedTable(std::uint64_t bytes) : groups_mask_((bytes >> kGroupShift) - 1) {}

    /// Identifies the address space of a virtual address. All address spaces share the kernel's half, which
    /// has number 0. `table`: physical address of the top page table.
    static std::uint64_t space(std::uint64_t table, std::uint64_t address) {
        return address >> 63 != 0 ? 0 : table >> 12;
    }
    /// Byte offset in the table of the group for this address. A multiplicative hash scatters the segments of
    /// 256 MB; the group's number is the hash of the segment, exclusive-or the page's number in the segment.
    std::uint64_t group(std::uint64_t space, std::uint64_t address) const {
        constexpr unsigned kSegmentShift = 28;
        constexpr std::uint64_t kPages = (std::uint64_t{1} << (kSegmentShift - 12)) - 1;
        constexpr std::uint64_t kScatter = 0x9e37'79b9'7f4a'7c15;
        const std::uint64_t segment = (address >> kSegmentShift & 0xf'ffff) | space << 20;
        const std::uint64_t number = segment * kScatter >> 25;
        return ((number ^ (address >> 12 & kPages)) & groups_mask_) << kGroupShift;
    }

private:
    std::uint64_t groups_mask_;
};

}  // namespace s80::plugin
