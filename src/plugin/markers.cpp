// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/markers.h"

#include <cstdint>

#include "plugin/fatal.h"
#include "plugin/recorder.h"
#include "plugin/registers.h"

namespace s80::plugin {

namespace {

enum class Marker : std::uintptr_t {
    core = 1,
    phase_page,
    process_class,
    load_begin,
    tx_begin,
    tx_end,
    fail,
    region_begin,
    region_end,
    run_begin,
    run_end
};

void execute(Marker marker) {
    Recorder& r = recorder();
    switch (marker) {
        case Marker::core: r.bind(running_state, static_cast<unsigned>(read_register(Register::rdi))); break;
        case Marker::phase_page: r.accesses().expect_page(*running_vcpu, read_register(Register::rdi)); break;
        case Marker::process_class:
            r.contexts().set_process_class(static_cast<std::uint8_t>(read_register(Register::rdi)));
            break;
        case Marker::load_begin: r.load_begin(); break;
        case Marker::region_begin: r.program_marks(model::Mark::measure_begin, true); break;
        case Marker::region_end: r.program_marks(model::Mark::measure_end, true); break;
        case Marker::run_begin: r.run_begins(read_register(Register::rdi) != 0); break;
        case Marker::run_end: r.run_ends(read_register(Register::rdi) != 0); break;
        case Marker::tx_end:
            r.transaction_end(read_register(Register::rdi), read_register(Register::rsi),
                              read_register(Register::rdx) != 0);
            break;
        // Other markers have no effect here: the Python code reads failures from the guest's output.
        default: break;
    }
}

void on_marker(unsigned, void* operation) {
    guarded([&] { execute(static_cast<Marker>(reinterpret_cast<std::uintptr_t>(operation))); });
}

}  // namespace

void watch_marker(qemu_plugin_insn* insn, unsigned operation) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_PLUGIN_CB_R_REGS,
                                           reinterpret_cast<void*>(static_cast<std::uintptr_t>(operation)));
}

}  // namespace s80::plugin
