// SPDX-License-Identifier: GPL-2.0-or-later
// The list of homes from which a machine file chooses.
#include <array>
#include <span>

#include "memory/home/bus.h"
#include "memory/home/directory.h"
#include "memory/home/grouped.h"

namespace s80::model {

namespace {

using Make = std::unique_ptr<Home> (*)(const HomeParts& parts);

template <class... Homes>
struct HomeList {
    static constexpr std::array kNames{Homes::kName...};
    static constexpr std::array<Make, sizeof...(Homes)> kMake{
        [](const HomeParts& parts) -> std::unique_ptr<Home> {
            if (parts.machine.group) {
                return std::make_unique<Grouped<Homes>>(parts);
            }
            return std::make_unique<Homes>(parts);
        }...};
    static constexpr std::array<std::span<const Key>, sizeof...(Homes)> kKeys{Homes::kKeys...};
};
using Homes = HomeList<BusHome, DirectoryHome>;

constexpr Key kKind{.name = "home.kind",
                    .type = KeyType::name,
                    .names = Homes::kNames,
                    .optional = true,
                    .text =
                        "what orders the requests for a line; absent: the bus if it does all that machine "
                        "and protocol need, else the directory"};

}  // namespace

std::vector<Key> home_keys() {
    std::vector<Key> keys{kKind};
    for (const std::span<const Key> own : Homes::kKeys) {
        keys.insert(keys.end(), own.begin(), own.end());
    }
    return keys;
}

std::unique_ptr<Home> make_home(const HomeParts& parts) {
    const Machine& machine = parts.machine;
    const bool bus = !machine.llc && !machine.directory && parts.protocol.bus_suffices();
    const std::string wanted = machine.keys.text(kKind.name, bus ? BusHome::kName : DirectoryHome::kName);
    return Homes::kMake[position(kKind, wanted, machine.keys.where())](parts);
}

}  // namespace s80::model
