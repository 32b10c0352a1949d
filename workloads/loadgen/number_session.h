// SPDX-License-Identifier: GPL-2.0-or-later
// A connection to one of our own servers. A request is one line; its reply is a line with numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.h"
#include "task.h"

namespace s80::loadgen {

class NumberSession final : public Connection {
public:
    NumberSession(Network& network, const Endpoint& server);

    /// Sends a request and reads its reply, which must repeat the first word. numbers() then returns the
    /// numbers after this word. Throws Failure for any other reply.
    Task ask(std::string request);
    const std::vector<std::int64_t>& numbers() const { return numbers_; }
    const std::string& reply() const { return reply_; }

private:
    std::size_t consume(std::string_view bytes) override;
    void parse();

    std::string request_;
    std::string reply_;
    std::vector<std::int64_t> numbers_;
};

}  // namespace s80::loadgen
