// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a file that the host gave QEMU by -fw_cfg, through the I/O ports, without a kernel module.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace s80::loadgen {

class FwCfg {
public:
    /// Asks the kernel for the I/O ports. Throws Fatal without the right or without the device.
    FwCfg();

    /// The content of the named file, or nothing while the host offers none.
    std::optional<std::string> read(std::string_view name);
};

}  // namespace s80::loadgen
