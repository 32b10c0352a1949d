// SPDX-License-Identifier: GPL-2.0-or-later
// A separate plugin that only ends QEMU's time slices (`turn`) as s80lab does. `s80lab bench` uses it to run
// the guest without the model for comparison. Its argument is turn_instructions=N.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>

#include "model/types.h"
#include "plugin/fatal.h"
#include "plugin/qemu_api.h"
#include "plugin/turn_end.h"

namespace s80::plugin {

namespace {

class Turns {
public:
    explicit Turns(std::uint64_t longest) : longest_(longest) {}

    void executed(std::uint64_t instructions) {
        if (end_.running() != running_) {
            running_ = end_.running();
            ran_ = 0;
        }
        ran_ += instructions;
        if (ran_ >= longest_) {
            ran_ = 0;  // if nobody else can run
            end_.request();
        }
    }

private:
    const TurnEnd end_;
    const std::uint64_t longest_;
    std::uint64_t ran_ = 0;  ///< instructions of this turn
    const void* running_ = nullptr;
};

std::uint64_t longest_turn = 0;
/// Made by the first block, on the thread that runs the processors; never destroyed, as `the_recorder`.
Turns* the_turns = nullptr;

void on_block(unsigned, void* instructions) {
    if (the_turns == nullptr) [[unlikely]] {
        the_turns = guarded([] { return new Turns(longest_turn); });
    }
    the_turns->executed(reinterpret_cast<std::uintptr_t>(instructions));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         reinterpret_cast<void*>(qemu_plugin_tb_n_insns(tb)));
}

std::uint64_t parse(int argc, char** argv) {
    constexpr std::string_view kKey = "turn_instructions=";
    const std::string_view word = argc == 1 ? argv[0] : "";
    std::uint64_t longest = 0;
    if (word.starts_with(kKey)) {
        const auto value = word.substr(kKey.size());
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), longest);
        if (error != std::errc{} || end != value.data() + value.size()) {
            longest = 0;
        }
    }
    if (longest == 0) {
        throw model::Error(
            "this plugin needs exactly one argument, turn_instructions=N, with N of at least 1");
    }
    return longest;
}

}  // namespace

}  // namespace s80::plugin

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = s80::plugin::kApiVersion;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                               int argc, char** argv) {
    using namespace s80::plugin;
    try {
        longest_turn = parse(argc, argv);
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "s80lab-turns: %s\n", e.what());
        return 1;
    }
}
}
