// SPDX-License-Identifier: GPL-2.0-or-later
// All machine keys, as the parts of the model declare them.
#pragma once
#include <string>

namespace s80::model {

/// The declarations as JSON, table by table: scripts/s80lab/config/machine_keys.json.
std::string machine_keys_json();

}  // namespace s80::model
