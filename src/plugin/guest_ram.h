// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's RAM as this process maps it: host address to guest-physical address and back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace s80::plugin {

class GuestRam {
public:
    /// `name`: the RAM file as /proc/self/maps shows it. `low_ram`: bytes of RAM below the PCI hole
    /// (0: all); the rest begins at 4 GiB, as QEMU's x86 machines lay it out.
    GuestRam(std::string name, std::uint64_t low_ram) : name_(std::move(name)), low_ram_(low_ram) {}

    /// Guest-physical address of a host address; nothing when it is not guest RAM (firmware, say).
    std::optional<std::uint64_t> physical(const void* host);
    /// Host address of a guest-physical address; null when it is not guest RAM.
    std::uint8_t* host(std::uint64_t physical);
    /// End of the guest-physical addresses that are RAM.
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
