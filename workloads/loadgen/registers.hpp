// SPDX-License-Identifier: GPL-2.0-or-later
// A page of device registers in the guest's physical address space, mapped from /dev/mem (boot argument
// iomem=relaxed).
#pragma once

#include <cstdint>

namespace s80::loadgen {

class Registers {
public:
    /// Throws Fatal if /dev/mem denies access.
    explicit Registers(std::uint64_t physical_address);
    ~Registers();
    Registers(const Registers&) = delete;
    Registers& operator=(const Registers&) = delete;

    std::uint32_t read(unsigned offset) const { return words_[offset / sizeof *words_]; }
    void write(unsigned offset, std::uint32_t value) { words_[offset / sizeof *words_] = value; }

private:
    volatile std::uint32_t* words_;
};

}  // namespace s80::loadgen
