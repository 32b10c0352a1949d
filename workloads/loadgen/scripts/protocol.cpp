// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol.h"

#include "scripts/script_client.h"

namespace s80::loadgen {

const Protocol script_protocol = {
    "scripts", {}, {}, [](World& world, unsigned index) -> std::unique_ptr<Client> {
        return std::make_unique<ScriptClient>(world, index);
    }};

}  // namespace s80::loadgen
