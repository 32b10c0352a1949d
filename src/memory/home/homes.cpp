// SPDX-License-Identifier: GPL-2.0-or-later
// The list of homes.
#include <array>
#include <string>

#include "memory/home/bus.h"

namespace s80::model {

namespace {

using Make = std::unique_ptr<Home> (*)(const HomeParts& parts);
struct HomeKind {
    const char* name;
    Make make;
};

template <class One>
constexpr HomeKind home_kind() {
    return {One::kName,
            [](const HomeParts& parts) -> std::unique_ptr<Home> { return std::make_unique<One>(parts); }};
}

constexpr std::array kHomes{
    home_kind<BusHome>(),
};

}  // namespace

std::unique_ptr<Home> make_home(const HomeParts& parts) {
    const std::string wanted = parts.machine.keys.text("home.kind", BusHome::kName);
    std::string names;
    for (const auto& [name, make] : kHomes) {
        if (name == wanted) {
            return make(parts);
        }
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(parts.machine.keys.where() + ": home.kind is '" + wanted + "'; allowed: " + names);
}

}  // namespace s80::model
