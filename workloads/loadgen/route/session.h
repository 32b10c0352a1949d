// SPDX-License-Identifier: GPL-2.0-or-later
// One connection to the sink: exchanges messages and replies whose bytes are all known in advance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.h"
#include "message.h"
#include "task.h"

namespace s80::loadgen {

class RouteSession final : public Connection {
public:
    RouteSession(Network& network, const Endpoint& sink);

    /// Sends a message with the content of this number and reads its reply. Sizes are in bytes and include
    /// the headers. Throws Failure if the message did not arrive unchanged, or if the reply is not the
    /// expected one.
    Task exchange(std::uint64_t number, std::size_t size, std::size_t reply_size);

private:
    std::size_t consume(std::string_view bytes) override;
    void on_header(const route::ReplyHeader& header);

    std::string message_;
    std::optional<route::ReplyHeader> header_;
    std::string_view expected_;  // of the reply's content, what has not come yet
    bool same_ = true;           // what has come was what it must be
};

}  // namespace s80::loadgen
