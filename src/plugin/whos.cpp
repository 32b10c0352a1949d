// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/whos.h"

#include "base/json.h"

namespace s80::plugin {

std::uint32_t Whos::number(std::uint32_t pid, const std::string& name, int call, std::uint32_t tgid) {
    const auto [it, fresh] =
        numbers_.try_emplace({pid, name, call, tgid}, static_cast<std::uint32_t>(whos_.size()));
    if (fresh) {
        whos_.push_back(it->first);
    }
    return it->second;
}

std::string Whos::json(std::size_t count, Form form) const {
    std::string out = "[";
    for (std::size_t i = 0; i < count && i < whos_.size(); ++i) {
        const auto& [pid, name, call, tgid] = whos_[i];
        out += out.size() > 1 ? ",[" : "[";
        out += std::to_string(pid) + ',' + model::quoted(name) + ',' + std::to_string(call);
        out += form == Form::process ? ',' + std::to_string(tgid) + ']' : "]";
    }
    return out + ']';
}

}  // namespace s80::plugin
