// SPDX-License-Identifier: GPL-2.0-or-later
#include "phase_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "markers.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kPageBytes = 4096;

std::uint64_t word(const char (&text)[9]) {
    std::uint64_t value;
    std::memcpy(&value, text, sizeof value);
    return value;
}

/// The plugin knows the page by its physical address, and the kernel's compaction moves even locked
/// pages unless it is told not to.
void keep_locked_pages_in_place() {
    const int file = open("/proc/sys/vm/compact_unevictable_allowed", O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return;  // a kernel without compaction
    }
    [[maybe_unused]] const ssize_t written = write(file, "0", 1);
    close(file);
}

}  // namespace

void PhasePage::offer() {
    keep_locked_pages_in_place();
    void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);
    if (memory == MAP_FAILED) {
        return;
    }
    auto* words = static_cast<volatile std::uint64_t*>(memory);
    words[0] = word("S80PAGE0");
    marker::phase_page(memory);
    if (words[0] == word("S80PAGE1")) {
        page_ = words;
    } else {
        munmap(memory, kPageBytes);
    }
}

}  // namespace s80::loadgen
