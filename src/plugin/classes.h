// SPDX-License-Identifier: GPL-2.0-or-later
// Which class a process is of, by its name (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <map>
#include <string>

#include "model/types.h"

namespace s80::plugin {

class Classes {
public:
    /// Nothing for no path: every process is `other`. Throws model::Error.
    static Classes load(const std::string& path);

    /// `name`: what the kernel calls the process (at most 15 characters).
    model::Party of(const std::string& name) const {
        const auto it = by_name_.find(name);
        return it == by_name_.end() ? model::Party::other : it->second;
    }

private:
    std::map<std::string, model::Party> by_name_;
};

}  // namespace s80::plugin
