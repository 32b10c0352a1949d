// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's RAM as QEMU has mapped it: translates host addresses to guest-physical addresses and back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace s80::plugin {

class GuestRam {
public:
    /// `name`: the RAM file, as /proc/self/maps names it. `low_ram`: bytes of RAM below the PCI hole; 0: all
    /// RAM is below it. The RAM above the hole begins at 4 GiB, as in QEMU's x86 machines.
    GuestRam(std::string name, std::uint64_t low_ram) : name_(std::move(name)), low_ram_(low_ram) {}

    /// The guest-physical address of a host address. Nothing if the address is not in the guest's RAM, for
    /// example in firmware.
    std::optional<std::uint64_t> physical(const void* host);
    /// The host address of a guest-physical address; null if the address is not in the guest's RAM.
    std::uint8_t* host(std::uint64_t physical);
    /// The address after the last byte of the guest's RAM.
    std::uint64_t end();

private:
    void find_mappings();
    std::uint64_t to_physical(std::uint64_t offset) const;

    struct Mapping {
        std::uint64_t begin, end, offset;
    };
    std::string name_;
    std::uint64_t low_ram_;
    std::vector<Mapping> mappings_;
};

}  // namespace s80::plugin
