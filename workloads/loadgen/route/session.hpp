// SPDX-License-Identifier: GPL-2.0-or-later
// One connection to the sink: a message, and its reply, in which every byte is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "message.hpp"
#include "task.hpp"

namespace s80::loadgen {

class RouteSession final : public Connection {
public:
    RouteSession(Network& network, const Endpoint& sink);

    /// Sends a message of the number's content and reads its reply; sizes are in bytes, with the headers.
    /// Throws Failure where the message did not arrive as it was sent, or the reply is not what it must be.
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
