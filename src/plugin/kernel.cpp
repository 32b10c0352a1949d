// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/kernel.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace s80::plugin {

using model::KernelEntry;

namespace {

/// The kernel entry cause of an entry point with this name; `user` if the symbol is not an entry point.
KernelEntry entry_of(const std::string& symbol) {
    if (symbol == "entry_SYSCALL_64") {
        return KernelEntry::system_call;
    }
    if (symbol == "asm_sysvec_apic_timer_interrupt") {
        return KernelEntry::tick;
    }
    if (symbol.starts_with("asm_sysvec_") || symbol == "asm_common_interrupt" ||
        symbol == "asm_spurious_interrupt") {
        return KernelEntry::interrupt;
    }
    return symbol.starts_with("asm_exc_") ? KernelEntry::fault : KernelEntry::user;
}

std::uint64_t number(const std::string& path, const std::string& name, const std::string& text) {
    constexpr int kAnyBase = 0;
    try {
        return std::stoull(text, nullptr, kAnyBase);
    } catch (const std::exception&) {
        throw model::Error(path + ": " + name + " needs a number, not '" + text + "'");
    }
}

}  // namespace

std::map<std::string, std::uint64_t> read_kernel_values(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw model::Error("cannot read " + path + ": " + std::strerror(errno));
    }
    std::map<std::string, std::uint64_t> values;
    std::string name, text;
    while (file >> name >> text) {
        if (name == "kernel_version") {
            continue;
        }
        values[name] = number(path, name, text);
    }
    return values;
}

Kernel Kernel::load(const std::string& path) {
    constexpr const char* kSymbol = "symbol.";
    Kernel kernel;
    std::map<std::string, std::uint64_t> values = read_kernel_values(path);
    const auto need = [&](const std::string& key) {
        const auto it = values.find(key);
        if (it == values.end()) {
            throw model::Error(path + ": " + key + " of the guest's kernel is missing");
        }
        return it->second;
    };
    kernel.current_task = need("per_cpu.current_task");
    kernel.comm = need("task_struct.comm");
    kernel.pid = need("task_struct.pid");
    kernel.tgid = need("task_struct.tgid");
    kernel.flags = need("task_struct.flags");
    kernel.stack = need("task_struct.stack");
    need("symbol.entry_SYSCALL_64");
    need("symbol.asm_exc_page_fault");
    need("symbol.asm_sysvec_apic_timer_interrupt");
    for (const auto& [key, value] : values) {
        const KernelEntry entry =
            key.starts_with(kSymbol) ? entry_of(key.substr(std::strlen(kSymbol))) : KernelEntry::user;
        if (entry != KernelEntry::user) {
            kernel.entries[value] = entry;
        }
    }
    // In newer kernels, __do_softirq calls handle_softirqs, which has the code.
    const bool outlined = values.contains("symbol.handle_softirqs");
    kernel.soft_interrupts = need(outlined ? "symbol.handle_softirqs" : "symbol.__do_softirq");
    kernel.entries[kernel.soft_interrupts] = KernelEntry::soft_interrupt;
    const auto known = [&](const std::string& key) { return values.contains(key) ? values[key] : 0; };
    kernel.copy_begin = known("memcpy.begin");
    kernel.copy_end = known("memcpy.end");
    kernel.end = known("symbol._end");
    return kernel;
}

bool Kernel::switches_task(const std::uint8_t* bytes, std::size_t size, std::uint64_t address) const {
    constexpr std::uint8_t kGs = 0x65;
    constexpr std::uint8_t kWide = 0x48;  // REX.W; with REX.R it selects one of the registers r8 to r15
    constexpr std::uint8_t kRexR = 0x04;
    constexpr std::uint8_t kStore = 0x89;
    constexpr std::uint8_t kRegister = 0x38;  // the field reg of the ModRM byte
    constexpr std::uint8_t kRelative = 0x05;  // ModRM byte: the address is relative to the next instruction
    // ModRM byte: with the SIB byte 0x25 after it, the address is absolute.
    constexpr std::uint8_t kAbsolute = 0x04;
    constexpr std::size_t kDisplacement = 4;
    if (size < 4 + kDisplacement || bytes[0] != kGs || (bytes[1] & ~kRexR) != kWide || bytes[2] != kStore) {
        return false;
    }
    std::int32_t displacement = 0;
    std::memcpy(&displacement, bytes + size - kDisplacement, kDisplacement);
    const auto distance = static_cast<std::uint64_t>(static_cast<std::int64_t>(displacement));
    const std::uint8_t mode = bytes[3] & static_cast<std::uint8_t>(~kRegister);
    if (mode == kRelative && size == 4 + kDisplacement) {
        return address + size + distance == current_task;
    }
    return mode == kAbsolute && size == 5 + kDisplacement && bytes[4] == 0x25 && distance == current_task;
}

}  // namespace s80::plugin
