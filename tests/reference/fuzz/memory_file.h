// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as a file with a path, without a disk.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace s80::test {

class MemoryFile {
public:
    MemoryFile(const std::uint8_t* data, std::size_t size) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
        if (file_ < 0 || write(file_, data, size) != static_cast<ssize_t>(size)) {
            std::abort();
        }
    }
    ~MemoryFile() { close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

}  // namespace s80::test
