// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/entry_points.h"

#include "plugin/arguments.h"
#include "plugin/fatal.h"
#include "plugin/recorder.h"

namespace s80::plugin {

namespace {

void on_from(unsigned, void*) {
    guarded([] { recorder().program_marks(model::Mark::measure_begin, false); });
}

void on_to(unsigned, void*) {
    guarded([] { recorder().program_marks(model::Mark::measure_end, false); });
}

void on_counted(unsigned, void* points) {
    static_cast<EntryPoints*>(points)->entered();
}

}  // namespace

EntryPoints::EntryPoints(const Arguments& arguments)
    : from_(arguments.region_from), to_(arguments.region_to), counted_(arguments.counted) {}

void EntryPoints::translated(qemu_plugin_insn* insn, std::uint64_t physical) {
    if (physical == to_ && to_ != 0) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_to, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    }
    if (physical == from_ && from_ != 0) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_from, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    }
    if (physical == counted_ && counted_ != 0) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_counted, QEMU_PLUGIN_CB_NO_REGS, this);
    }
}

}  // namespace s80::plugin
