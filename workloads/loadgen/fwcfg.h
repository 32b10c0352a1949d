// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a file that the host passed to QEMU with -fw_cfg. It uses the I/O ports and needs no kernel module.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace s80::loadgen {

class FwCfg {
public:
    /// Asks the kernel for access to the I/O ports. Throws Fatal if access is denied or the device is
    /// missing.
    FwCfg();

    /// The contents of the named file, or nothing while the host does not offer it.
    std::optional<std::string> read(std::string_view name);
};

}  // namespace s80::loadgen
