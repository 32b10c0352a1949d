// SPDX-License-Identifier: GPL-2.0-or-later
// The process class of a process, by its name (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <map>
#include <string>

#include "base/types.h"

namespace s80::plugin {

class Classes {
public:
    /// An empty path: every process is in the class `other`. Throws model::Error.
    static Classes load(const std::string& path);

    /// `name`: the kernel's name of the process (at most 15 characters).
    model::ProcessClass class_of(const std::string& name) const {
        const auto it = by_name_.find(name);
        return it == by_name_.end() ? model::ProcessClass::other : it->second;
    }

private:
    std::map<std::string, model::ProcessClass> by_name_;
};

}  // namespace s80::plugin
