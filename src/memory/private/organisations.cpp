// SPDX-License-Identifier: GPL-2.0-or-later
// The list of organisations of private caches. State files have the position in this list: append new ones.
#include <array>
#include <string_view>

#include "memory/private/exclusive.h"
#include "memory/private/inclusive.h"

namespace s80::model {

namespace {

using Make = std::unique_ptr<PrivateCaches> (*)(const PrivateParts& parts);
struct Organisation {
    const char* name;
    Make make;
};

template <class Caches>
constexpr Organisation organisation() {
    return {Caches::kName, [](const PrivateParts& parts) -> std::unique_ptr<PrivateCaches> {
                return std::make_unique<Caches>(parts);
            }};
}

constexpr std::array kOrganisations{
    organisation<Inclusive>(),
    organisation<Exclusive<MoveOrder::gem5>>(),
    organisation<Exclusive<MoveOrder::textbook>>(),
};

}  // namespace

unsigned organisation_number(const Machine& machine) {
    std::string names;
    for (unsigned number = 0; number < kOrganisations.size(); ++number) {
        if (kOrganisations[number].name == std::string_view(machine.l2_inclusion)) {
            return number;
        }
        names += (number == 0 ? "" : ", ") + std::string(kOrganisations[number].name);
    }
    throw Error(machine.keys.where() + ": l2.inclusion is '" + machine.l2_inclusion + "'; allowed: " + names);
}

std::unique_ptr<PrivateCaches> make_private_caches(const Machine& machine, const PrivateParts& parts) {
    return kOrganisations[organisation_number(machine)].make(parts);
}

}  // namespace s80::model
