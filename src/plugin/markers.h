// SPDX-License-Identifier: GPL-2.0-or-later
// Handles marker instructions, by which programs of the guest signal events to the plugin
// (docs/reference/interfaces/markers.md).
#pragma once
#include "plugin/qemu_api.h"

namespace s80::plugin {

/// Adds a callback to the instruction, which is a marker with this number. The callback passes the event to
/// the recorder.
void watch_marker(qemu_plugin_insn* insn, unsigned operation);

}  // namespace s80::plugin
