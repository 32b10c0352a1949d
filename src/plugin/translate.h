// SPDX-License-Identifier: GPL-2.0-or-later
// Instruments each block when QEMU translates it.
#pragma once
#include "plugin/qemu_api.h"

namespace s80::plugin {

void on_translation(qemu_plugin_id_t id, qemu_plugin_tb* tb);
/// Called after QEMU dropped all translations: no existing block will run again.
void on_flush(qemu_plugin_id_t id);

}  // namespace s80::plugin

/// vcpu_entry.S: passes the running vCPU's state on to s80_block_executed or s80_named_block_executed.
extern "C" void s80_block_entry(unsigned, void*);
extern "C" void s80_named_block_entry(unsigned, void*);
