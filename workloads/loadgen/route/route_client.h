// SPDX-License-Identifier: GPL-2.0-or-later
// A client that sends messages to the other side of a router over a persistent connection.
#pragma once

#include <cstddef>
#include <optional>

#include "client.h"
#include "route/session.h"

namespace s80::loadgen {

class RouteClient final : public Client {
public:
    using Client::Client;

private:
    /// Connects and exchanges the shortest possible message.
    Task log_in() override;
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    Traffic lasting() const override { return session_ ? session_->traffic() : Traffic{}; }

    Task exchange(std::size_t reply_bytes);

    std::optional<RouteSession> session_;
};

}  // namespace s80::loadgen
