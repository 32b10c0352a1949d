// SPDX-License-Identifier: GPL-2.0-or-later
// One connection to a server of ours: a line with a request, a line with the numbers of its reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "task.hpp"

namespace s80::loadgen {

class NumberSession final : public Connection {
public:
    NumberSession(Network& network, const Endpoint& server);

    /// Sends a request and reads its reply, which repeats the first word: then numbers() are those behind it.
    /// Throws Failure for any other.
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
