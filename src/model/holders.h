// SPDX-License-Identifier: GPL-2.0-or-later
// Which L2s hold a line: one bit a core, one word a line of guest-physical memory. It stands for the
// snoop (every cache looks up its tags) and costs one host access instead of one a core.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "model/types.h"

namespace s80::model {

class Holders {
public:
    /// `lines`: lines of guest-physical address space; pages are taken from the host as they are touched.
    explicit Holders(std::size_t lines) : lines_(lines) {
        void* p = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
        if (p == MAP_FAILED) {
            throw Error("no address space for the holder masks of " + std::to_string(lines) + " lines");
        }
        mask_ = static_cast<std::uint32_t*>(p);
    }
    ~Holders() { munmap(mask_, bytes()); }
    Holders(const Holders&) = delete;
    Holders& operator=(const Holders&) = delete;

    std::size_t lines() const { return lines_; }
    std::uint32_t of(Line line) const { return mask_[line]; }
    void add(Line line, unsigned core) { mask_[line] |= 1U << core; }
    void remove(Line line, unsigned core) { mask_[line] &= ~(1U << core); }

private:
    std::size_t bytes() const { return lines_ * sizeof(std::uint32_t); }
    std::size_t lines_;
    std::uint32_t* mask_;
};

}  // namespace s80::model
