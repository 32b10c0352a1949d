// SPDX-License-Identifier: GPL-2.0-or-later
// Memory for the big arrays of the model, in huge pages where the host gives them: every access is to another
// place, and would miss the host's TLB too.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <string>

#include "model/types.h"

namespace s80::model {

/// Has the host fetch a line of its cache. The empty statement is an effect: without one g++ 12 takes a
/// function that only prefetches for one that does nothing, and drops the calls of it.
inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}

/// Zero-filled; pages are taken from the host as they are touched.
class HostMemory {
public:
    /// Throws Error when there is no address space; `purpose` names what it was for.
    HostMemory(std::size_t bytes, const std::string& purpose)
        : mapped_((bytes + kHugePage - 1) / kHugePage * kHugePage + kHugePage) {
        void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
        if (p == MAP_FAILED) {
            throw Error("no address space for " + purpose + " (" + std::to_string(bytes) + " bytes)");
        }
        map_ = static_cast<std::byte*>(p);
        const auto beyond = reinterpret_cast<std::size_t>(p) % kHugePage;
        data_ = map_ + (kHugePage - beyond) % kHugePage;
        madvise(data_, mapped_ - kHugePage, MADV_HUGEPAGE);  // a wish: without it all works, slower
    }
    ~HostMemory() { munmap(map_, mapped_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    std::byte* data() const { return data_; }

private:
    static constexpr std::size_t kHugePage = std::size_t{2} << 20;
    std::size_t mapped_;
    std::byte* map_;
    std::byte* data_;
};

}  // namespace s80::model
