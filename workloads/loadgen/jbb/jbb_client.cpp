// SPDX-License-Identifier: GPL-2.0-or-later
#include "jbb/jbb_client.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace s80::loadgen {

namespace {

std::uint32_t size(std::int64_t number) {
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
        return 0;
    }
    return static_cast<std::uint32_t>(number);
}

}  // namespace

Task JbbClient::log_in() {
    session_.emplace(world.network, world.servers.of(jbb_protocol));
    watch(*session_);
    co_await session_->ask("OPEN " + std::to_string(index + 1));
    const std::vector<std::int64_t>& said = session_->numbers();
    if (said.size() != 5 || size(said[0]) == 0 || size(said[1]) == 0 || size(said[2]) == 0) {
        throw Failure(ErrorKind::protocol, "no sizes of a warehouse: " + session_->reply(), true);
    }
    books_.emplace(index + 1,
                   jbb::Sizes{size(said[0]), size(said[1]), size(said[2]), size(said[3]), size(said[4])});
}

}  // namespace s80::loadgen
