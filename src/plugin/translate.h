// SPDX-License-Identifier: GPL-2.0-or-later
// Adds callbacks to each block when QEMU translates it.
#pragma once
#include "plugin/qemu_api.h"

namespace s80::plugin {

void on_translation(qemu_plugin_id_t id, qemu_plugin_tb* tb);
/// Called after QEMU has dropped all translations: no existing block will be executed again.
void on_flush(qemu_plugin_id_t id);

}  // namespace s80::plugin

/// Callbacks of blocks, in vcpu_entry.S. They pass QEMU's state of the running vCPU on to s80_block_executed
/// and s80_named_block_executed.
extern "C" void s80_block_entry(unsigned, void*);
extern "C" void s80_named_block_entry(unsigned, void*);
