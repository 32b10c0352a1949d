// SPDX-License-Identifier: GPL-2.0-or-later
// SEND: a message to the other side of the router, which acknowledges it. SWAP: a message there, and one of
// the same size back.
#include "protocol.h"

#include <array>

#include "route/route_client.h"

namespace s80::loadgen {

namespace {

enum : TransactionType { ONE_WAY, BOTH_WAYS };
constexpr std::array<std::string_view, 2> kNames = {"SEND", "SWAP"};

}  // namespace

const Protocol route_protocol = {"route", "10.0.2.2:5001", kNames,
                                 [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                     return std::make_unique<RouteClient>(world, index);
                                 }};

Task RouteClient::run(TransactionType type) {
    return exchange(type == BOTH_WAYS ? world.job.message_bytes : route::kHeaderBytes);
}

}  // namespace s80::loadgen
