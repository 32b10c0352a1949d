// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/registers.h"

#include <array>
#include <cstring>
#include <string>

#include "base/types.h"
#include "plugin/qemu_api.h"

namespace s80::plugin {

namespace {

constexpr std::array<const char*, kRegisters> kNames{"rax", "rcx", "rdx",     "rdi",       "rsi",
                                                     "rsp", "cr3", "gs_base", "k_gs_base", "fs_base"};

std::array<qemu_plugin_register*, kRegisters> find_handles() {
    std::array<qemu_plugin_register*, kRegisters> handles{};
    const GArray* list = qemu_plugin_get_registers();
    const auto* descriptors = reinterpret_cast<const qemu_plugin_reg_descriptor*>(list->data);
    for (unsigned r = 0; r < kRegisters; ++r) {
        for (unsigned i = 0; i < list->len; ++i) {
            if (std::strcmp(descriptors[i].name, kNames[r]) == 0) {
                handles[r] = descriptors[i].handle;
            }
        }
        if (handles[r] == nullptr) {
            throw model::Error(std::string("this QEMU does not expose the register ") + kNames[r]);
        }
    }
    return handles;
}

}  // namespace

std::uint64_t read_register(Register which) {
    static const auto handles = find_handles();
    static GByteArray* const bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, 0);
    qemu_plugin_read_register(handles[static_cast<unsigned>(which)], bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes->data, bytes->len < 8 ? bytes->len : 8);
    return value;
}

}  // namespace s80::plugin
