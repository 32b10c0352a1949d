// SPDX-License-Identifier: GPL-2.0-or-later
// Marker instructions of the guest (docs/reference/interfaces/markers.md).
#pragma once
#include "plugin/qemu_api.h"

namespace s80::plugin {

/// Notifies the recorder whenever the marker instruction `operation` is executed.
void watch_marker(qemu_plugin_insn* insn, unsigned operation);

}  // namespace s80::plugin
