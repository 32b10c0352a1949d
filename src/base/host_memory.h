// SPDX-License-Identifier: GPL-2.0-or-later
// Memory for the large arrays of the model, in huge pages if the host has them: successive accesses are
// nearly always to different pages, so small pages would miss in the host's TLB.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <string>

#include "base/types.h"

namespace s80::model {

/// Prefetches the line of the host's cache at this address. The empty asm statement counts as a side effect:
/// without it, g++ 12 removes calls of functions that do nothing but prefetch.
inline void host_prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}

/// Memory that is filled with zeros. The host provides a page when it is first touched.
class HostMemory {
public:
    /// `purpose`: what the memory is for, for the message. Throws Error if the process has no address space
    /// left.
    HostMemory(std::size_t bytes, const std::string& purpose)
        : mapped_((bytes + kHugePage - 1) / kHugePage * kHugePage + kHugePage) {
        void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
        if (p == MAP_FAILED) {
            throw Error("not enough address space for " + purpose + " (" + std::to_string(bytes) + " bytes)");
        }
        map_ = static_cast<std::byte*>(p);
        const auto beyond = reinterpret_cast<std::size_t>(p) % kHugePage;
        data_ = map_ + (kHugePage - beyond) % kHugePage;
        madvise(data_, mapped_ - kHugePage, MADV_HUGEPAGE);  // only a hint to the host, for speed
    }
    ~HostMemory() { munmap(map_, mapped_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    std::byte* data() const { return data_; }
    /// Fills the memory with zeros again, by returning its pages to the host.
    void clear() { madvise(data_, mapped_ - kHugePage, MADV_DONTNEED); }

private:
    static constexpr std::size_t kHugePage = std::size_t{2} << 20;
    std::size_t mapped_;
    std::byte* map_;
    std::byte* data_;
};

}  // namespace s80::model
