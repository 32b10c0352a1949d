// SPDX-License-Identifier: GPL-2.0-or-later
#include "fwcfg.h"

#include <endian.h>
#include <sys/io.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "failure.h"

namespace s80::loadgen {

namespace {

constexpr unsigned short kSelectorPort = 0x510;
constexpr unsigned short kDataPort = 0x511;
constexpr std::uint16_t kSignatureSelector = 0x00;
constexpr std::uint16_t kDirectorySelector = 0x19;

struct DirectoryEntry {  // big-endian, as the device defines it
    std::uint32_t size;
    std::uint16_t selector;
    std::uint16_t reserved;
    char name[56];
};
static_assert(sizeof(DirectoryEntry) == 64);

void select(std::uint16_t key) {
    outw(key, kSelectorPort);
}

void receive(void* to, std::size_t bytes) {
    insb(kDataPort, to, bytes);
    asm volatile("" ::: "memory");  // glibc's insb does not say that it writes memory
}

}  // namespace

FwCfg::FwCfg() {
    if (iopl(3) != 0) {
        throw Fatal(std::string("no access to the I/O ports of fw_cfg: ") + std::strerror(errno));
    }
    char signature[4];
    select(kSignatureSelector);
    receive(signature, sizeof signature);
    if (std::memcmp(signature, "QEMU", sizeof signature) != 0) {
        throw Fatal("this machine has no fw_cfg device: the job of the load generator cannot be read");
    }
}

std::optional<std::string> FwCfg::read(std::string_view name) {
    std::uint32_t count = 0;
    select(kDirectorySelector);
    receive(&count, sizeof count);
    for (std::uint32_t left = be32toh(count); left > 0; --left) {
        DirectoryEntry entry;
        receive(&entry, sizeof entry);
        entry.name[sizeof entry.name - 1] = '\0';
        if (name != entry.name) {
            continue;
        }
        std::string content(be32toh(entry.size), '\0');
        select(be16toh(entry.selector));
        receive(content.data(), content.size());
        return content;
    }
    return std::nullopt;
}

}  // namespace s80::loadgen
