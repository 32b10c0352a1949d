// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/private/organisations.h"

namespace s80::model {

unsigned organisation_number(const Machine& machine) {
    return position(kInclusionKey, machine.l2_inclusion, machine.keys.where());
}

std::unique_ptr<PrivateCaches> make_private_caches(const Machine& machine, const PrivateParts& parts) {
    return Organisations::call(organisation_number(machine),
                               [&]<class Caches>(Organisation<Caches>) -> std::unique_ptr<PrivateCaches> {
                                   return std::make_unique<Caches>(parts);
                               });
}

}  // namespace s80::model
