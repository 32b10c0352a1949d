// SPDX-License-Identifier: GPL-2.0-or-later
// A plugin for test_accesses.py. It compares what the decoder says of each instruction with the accesses that
// QEMU reports. It writes one line for each different instruction that was executed: the bytes, whether an
// execution was followed by the kernel's marker (accesses.S), the numbers of loads and stores, the bytes of
// the largest one; then the decoder's class, bytes of an access, and whether the decoder asks for callbacks.
// Its argument is out=FILE.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plugin/decode.h"
#include "plugin/qemu_api.h"

namespace s80::plugin {

namespace {

constexpr unsigned kCompleted = 0xfe;

struct Instruction {
    Decoded decoded;
    std::uint64_t executed = 0;
    std::uint64_t completed = 0;
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
    unsigned largest = 0;
};

/// QEMU calls the last callback after a plugin's destructors.
struct State {
    std::unordered_map<std::string, Instruction> instructions;  ///< by their bytes; elements do not move
    Instruction* last = nullptr;
    std::string out;
};
State& state = *new State;

void on_instruction(unsigned, void* data) {
    auto* instruction = static_cast<Instruction*>(data);
    if (instruction->decoded.marker == kCompleted && state.last != nullptr) {
        ++state.last->completed;
    }
    ++instruction->executed;
    state.last = instruction;
}

template <std::uint64_t Instruction::*count>
void on_access(unsigned, qemu_plugin_meminfo_t info, std::uint64_t, void* data) {
    auto* instruction = static_cast<Instruction*>(data);
    ++(instruction->*count);
    instruction->largest = std::max(instruction->largest, 1U << qemu_plugin_mem_size_shift(info));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    for (std::size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        std::array<std::uint8_t, 16> bytes{};
        const std::size_t size = qemu_plugin_insn_data(insn, bytes.data(), bytes.size());
        const auto [found, fresh] = state.instructions.try_emplace(
            std::string(bytes.begin(), bytes.begin() + static_cast<long>(size)));
        if (fresh) {
            found->second.decoded = decode(bytes.data(), size);
        }
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS, &found->second);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access<&Instruction::loads>, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_R, &found->second);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access<&Instruction::stores>, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_W, &found->second);
    }
}

void write(qemu_plugin_id_t, void*) {
    std::FILE* file = std::fopen(state.out.c_str(), "w");
    if (file == nullptr) {
        std::perror(state.out.c_str());
        std::abort();
    }
    for (const auto& [bytes, i] : state.instructions) {
        if (i.executed == 0) {
            continue;
        }
        for (const char byte : bytes) {
            std::fprintf(file, "%02x", static_cast<unsigned>(static_cast<std::uint8_t>(byte)));
        }
        std::fprintf(file, " %d %lu %lu %u %s %u %d\n", i.completed != 0, i.loads, i.stores, i.largest,
                     std::string(model::label(i.decoded.kind)).c_str(), i.decoded.access_bytes,
                     i.decoded.touches_memory);
    }
    std::fclose(file);
}

}  // namespace

}  // namespace s80::plugin

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = s80::plugin::kApiVersion;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*,
                                                               int argc, char** argv) {
    using namespace s80::plugin;
    constexpr std::string_view kKey = "out=";
    if (argc != 1 || !std::string_view(argv[0]).starts_with(kKey)) {
        std::fprintf(stderr, "s80accesses: the argument must be out=FILE\n");
        return 1;
    }
    state.out = std::string_view(argv[0]).substr(kKey.size());
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, write, nullptr);
    return 0;
}
}
