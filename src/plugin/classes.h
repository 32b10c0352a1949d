// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the process class of a process by the process's name (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <map>
#include <string>

#include "base/types.h"

namespace s80::plugin {

class Classes {
public:
    /// Reads the lists of process names. An empty path means no lists: each process is in the class `other`.
    /// Throws model::Error.
    static Classes load(const std::string& path);

    /// The class of the process with this name, as the kernel has it: `comm`, at most 15 characters.
    model::ProcessClass class_of(const std::string& name) const {
        const auto it = by_name_.find(name);
        return it == by_name_.end() ? model::ProcessClass::other : it->second;
    }

private:
    std::map<std::string, model::ProcessClass> by_name_;
};

}  // namespace s80::plugin
