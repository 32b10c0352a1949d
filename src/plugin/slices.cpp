// SPDX-License-Identifier: GPL-2.0-or-later
// A separate plugin, which only ends QEMU's time slices early. `s80lab bench` compares the guest with the
// model to the guest with this plugin. Arguments: instructions=N is the length of a time slice. With
// accesses=empty, the plugin also calls an empty function for each access; no plugin that sees each access
// can be faster.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string_view>

#include "base/types.h"
#include "plugin/fatal.h"
#include "plugin/qemu_api.h"
#include "plugin/slice_end.h"

namespace s80::plugin {

namespace {

struct Bounds {
    std::uint64_t instructions = 0;  ///< length of a time slice
    bool accesses = false;           ///< call an empty function for each access
};

Bounds bounds;
/// Set by the first block, because it must be made on the thread that executes the vCPUs.
std::optional<SliceEnd> slice_end;
std::uint64_t ran = 0;  ///< instructions executed in this time slice
const void* running = nullptr;

void on_block(unsigned, void* instructions) {
    if (!slice_end) [[unlikely]] {
        guarded([] { slice_end.emplace(); });
    }
    if (slice_end->running() != running) {
        running = slice_end->running();
        ran = 0;
    }
    const auto block = reinterpret_cast<std::uintptr_t>(instructions);
    if (ran >= bounds.instructions) {
        ran = 0;  // QEMU may begin a time slice of the same processor
        slice_end->leave(block, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
    }
    ran += block;
}

void on_access(unsigned, qemu_plugin_meminfo_t, std::uint64_t, void*) {}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    const std::size_t instructions = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         reinterpret_cast<void*>(instructions));
    for (std::size_t i = 0; bounds.accesses && i < instructions; ++i) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, nullptr);
    }
}

Bounds parse(int argc, char** argv) {
    constexpr std::string_view kKey = "instructions=";
    Bounds found;
    for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
        const std::string_view value = word.substr(std::min(kKey.size(), word.size()));
        const char* const end = value.data() + value.size();
        if (word == "accesses=empty") {
            found.accesses = true;
        } else if (!word.starts_with(kKey) ||
                   std::from_chars(value.data(), end, found.instructions).ptr != end) {
            found.instructions = 0;
            break;
        }
    }
    if (found.instructions == 0) {
        throw model::Error(
            "this plugin needs the argument instructions=N, with N of at least 1, and knows accesses=empty");
    }
    return found;
}

}  // namespace

}  // namespace s80::plugin

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = s80::plugin::kApiVersion;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                               int argc, char** argv) {
    using namespace s80::plugin;
    try {
        bounds = parse(argc, argv);
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "s80lab-slices: %s\n", e.what());
        return 1;
    }
}
}
