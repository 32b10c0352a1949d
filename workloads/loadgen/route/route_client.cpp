// SPDX-License-Identifier: GPL-2.0-or-later
#include "route/route_client.h"

namespace s80::loadgen {

Task RouteClient::log_in() {
    session_.emplace(world.network, world.servers.of(route_protocol));
    watch(*session_);
    co_await session_->exchange(0, route::kHeaderBytes, route::kHeaderBytes);
}

Task RouteClient::exchange(std::size_t reply_bytes) {
    return session_->exchange(random.bits(), world.job.message_bytes, reply_bytes);
}

}  // namespace s80::loadgen
