// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/allocations.h"

#include <fstream>
#include <map>
#include <sstream>

#include "base/types.h"

namespace s80::plugin {

Allocations::Allocations(const std::string& path) {
    if (path.empty()) {
        return;
    }
    const std::map<std::string, Size> sizes{
        {"first", Size::first}, {"second", Size::second}, {"product", Size::product}, {"third", Size::third}};
    std::ifstream file(path);
    std::string line;
    for (unsigned number = 1; std::getline(file, line); ++number) {
        std::istringstream words(line);
        std::uint64_t begin = 0;
        std::string size;
        std::string more;
        if (!(words >> std::hex >> begin >> size) || words >> more || !sizes.contains(size)) {
            throw model::Error(path + ": line " + std::to_string(number) +
                               " is not a function of an allocator: write BEGIN first|second|product|third");
        }
        functions_[begin] = sizes.at(size);
    }
    if (functions_.empty()) {
        throw model::Error(path + ": has no function of an allocator");
    }
}

void Allocations::entered(Size size, const Call& call, std::optional<std::uint64_t> physical) {
    if (physical) {
        returns_.insert(*physical);
    }
    const std::uint64_t bytes = size == Size::first    ? call.first
                                : size == Size::second ? call.second
                                : size == Size::third  ? call.third
                                                       : call.first * call.second;
    pending_[{call.table, call.stack}] = {{0, bytes, call.caller}, size == Size::third ? call.first : 0};
}

std::optional<Allocations::Object> Allocations::returned(
    const Return& call, const std::function<std::uint64_t(std::uint64_t)>& word) {
    const auto it = pending_.find({call.table, call.stack});
    if (it == pending_.end()) {
        return std::nullopt;
    }
    auto [object, stored] = it->second;
    pending_.erase(it);
    // posix_memalign returns an error number, where 0 means success. The other functions return the address.
    object.begin = stored == 0 ? call.result : call.result == 0 ? word(stored) : 0;
    if (object.begin == 0) {
        return std::nullopt;
    }
    Object& last = last_[{call.table, object.begin}];
    if (last == object) {
        return std::nullopt;
    }
    last = object;
    return object;
}

}  // namespace s80::plugin
