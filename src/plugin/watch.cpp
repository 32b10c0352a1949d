// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/watch.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/types.h"

namespace s80::plugin {

namespace {

std::uint64_t number_at(GuestRam& ram, std::uint64_t address, unsigned size) {
    const std::uint8_t* host = ram.host(address);
    if (host == nullptr) {
        throw model::Error("a watched counter lies outside of the guest's RAM");
    }
    std::uint64_t value = 0;
    std::memcpy(&value, host, size);
    return value;
}

}  // namespace

Watch::Watch(const std::string& path, GuestRam& ram) : ram_(ram) {
    if (path.empty()) {
        return;
    }
    std::ifstream file(path);
    if (!file) {
        throw model::Error("the list of watched counters " + path + " cannot be read");
    }
    for (std::string line; std::getline(file, line);) {
        try {
            add(line);
        } catch (const model::Error& e) {
            throw model::Error(std::string(path).append(", '").append(line).append("': ").append(e.what()));
        }
    }
}

void Watch::add(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    Value value;
    words >> name >> std::hex >> value.address >> std::dec >> value.size;
    if (!words || (value.size != 1 && value.size != 2 && value.size != 4 && value.size != 8)) {
        throw model::Error("a line needs a name, an address and a size of 1, 2, 4 or 8 bytes");
    }
    if (words >> std::hex >> value.guard_address) {
        value.guarded = true;
        if (!(words >> std::dec >> value.guard)) {
            throw model::Error("a guard needs an address and a value");
        }
    }
    const auto known = std::find(names_.begin(), names_.end(), name);
    value.name = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) {
        names_.push_back(name);
    }
    values_.push_back(value);
}

void Watch::add(const std::string& name, const std::uint64_t& counter) {
    own_.push_back({names_.size(), &counter});
    names_.push_back(name);
}

std::vector<std::uint64_t> Watch::read() {
    std::vector<std::uint64_t> sums(names_.size());
    for (Value& v : values_) {
        if (!v.guarded || number_at(ram_, v.guard_address, sizeof v.guard) == v.guard) {
            v.last = number_at(ram_, v.address, v.size);
        }
        sums[v.name] += v.last;
    }
    for (const Own& own : own_) {
        sums[own.name] += *own.counter;
    }
    return sums;
}

}  // namespace s80::plugin
