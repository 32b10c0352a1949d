// SPDX-License-Identifier: GPL-2.0-or-later
#include "registers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "failure.hpp"

namespace s80::loadgen {

namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

Registers::Registers(std::uint64_t physical_address) {
    const int file = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
    void* memory = file < 0 ? MAP_FAILED
                            : mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                   static_cast<off_t>(physical_address));
    const int error = errno;
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) {
        throw Fatal(std::string("no access to the timers of the guest through /dev/mem: ") +
                    std::strerror(error) + " (its kernel needs the argument iomem=relaxed)");
    }
    words_ = static_cast<volatile std::uint32_t*>(memory);
}

Registers::~Registers() {
    munmap(const_cast<std::uint32_t*>(words_), page_bytes);
}

}  // namespace s80::loadgen
