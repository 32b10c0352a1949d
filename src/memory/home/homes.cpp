// SPDX-License-Identifier: GPL-2.0-or-later
// The list of homes.
#include <array>
#include <string>

#include "memory/home/bus.h"
#include "memory/home/directory.h"

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
    home_kind<DirectoryHome>(),
};

}  // namespace

std::unique_ptr<Home> make_home(const HomeParts& parts) {
    const Keys& keys = parts.machine.keys;
    const Machine& machine = parts.machine;
    const bool bus = !machine.llc && !machine.directory && parts.protocol.bus_suffices();
    const std::string wanted = keys.text("home.kind", bus ? BusHome::kName : DirectoryHome::kName);
    return kHomes[position(kHomes, wanted, keys.where(), "home.kind", &HomeKind::name)].make(parts);
}

}  // namespace s80::model
