// SPDX-License-Identifier: GPL-2.0-or-later
// A separate plugin that only bounds QEMU's time slices. `s80lab bench` uses it to run the guest without the
// model for comparison. Its argument is instructions=N.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>

#include "model/types.h"
#include "plugin/fatal.h"
#include "plugin/qemu_api.h"
#include "plugin/slice_end.h"

namespace s80::plugin {

namespace {

std::uint64_t longest = 0;
/// Found by the first block, on the thread that runs the processors.
std::optional<SliceEnd> slice_end;
std::uint64_t ran = 0;  ///< instructions of this time slice
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
    if (ran >= longest) {
        ran = 0;  // if nobody else can run
        slice_end->leave(block, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
    }
    ran += block;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         reinterpret_cast<void*>(qemu_plugin_tb_n_insns(tb)));
}

std::uint64_t parse(int argc, char** argv) {
    constexpr std::string_view kKey = "instructions=";
    const std::string_view word = argc == 1 ? argv[0] : "";
    std::uint64_t bound = 0;
    if (word.starts_with(kKey)) {
        const auto value = word.substr(kKey.size());
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bound);
        if (error != std::errc{} || end != value.data() + value.size()) {
            bound = 0;
        }
    }
    if (bound == 0) {
        throw model::Error("this plugin needs exactly one argument, instructions=N, with N of at least 1");
    }
    return bound;
}

}  // namespace

}  // namespace s80::plugin

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = s80::plugin::kApiVersion;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                               int argc, char** argv) {
    using namespace s80::plugin;
    try {
        longest = parse(argc, argv);
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "s80lab-slices: %s\n", e.what());
        return 1;
    }
}
}
