// SPDX-License-Identifier: GPL-2.0-or-later
// Entry point of the plugin, which QEMU calls when it loads the plugin: checks QEMU and the machine, and
// registers the callbacks.
#include <cstring>
#include <string>

#include "coherence/protocol.h"
#include "machine/machine.h"
#include "plugin/arguments.h"
#include "plugin/fatal.h"
#include "plugin/qemu_api.h"
#include "plugin/recorder.h"
#include "plugin/translate.h"

namespace s80::plugin {

namespace {

void check(const qemu_info_t& info, const model::Machine& machine) {
    if (info.version.cur < kApiVersion || info.version.min > kApiVersion) {
        throw model::Error("this QEMU has plugin interface " + std::to_string(info.version.cur) +
                           "; version 4 is needed (QEMU 9.2 or later)");
    }
    if (!info.system_emulation || std::strcmp(info.target_name, "x86_64") != 0) {
        throw model::Error("the plugin needs qemu-system-x86_64");
    }
    if (static_cast<unsigned>(info.system.smp_vcpus) != machine.processors) {
        throw model::Error("QEMU has " + std::to_string(info.system.smp_vcpus) +
                           " processors, but the machine file has " + std::to_string(machine.processors));
    }
}

void install(qemu_plugin_id_t id, const qemu_info_t& info, int argc, char** argv) {
    const Arguments arguments = Arguments::parse(argc, argv);
    const model::Machine machine = model::Machine::load(arguments.machine);
    check(info, machine);
    the_recorder = new Recorder(arguments, machine, model::Protocol::load(arguments.protocol));
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_atexit_cb(
        id, [](qemu_plugin_id_t, void*) { guarded([] { recorder().finish(); }); }, nullptr);
}

}  // namespace

}  // namespace s80::plugin

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = s80::plugin::kApiVersion;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info,
                                                               int argc, char** argv) {
    try {
        s80::plugin::install(id, *info, argc, argv);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "s80lab-plugin: %s\n", e.what());
        return 1;
    }
}
}
