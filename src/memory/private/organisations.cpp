// SPDX-License-Identifier: GPL-2.0-or-later
// The list of organisations of private caches. State files have the position in this list: append new ones.
#include <array>

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
    return position(kOrganisations, machine.l2_inclusion, machine.keys.where(), "l2.inclusion",
                    &Organisation::name);
}

std::unique_ptr<PrivateCaches> make_private_caches(const Machine& machine, const PrivateParts& parts) {
    return kOrganisations[organisation_number(machine)].make(parts);
}

}  // namespace s80::model
