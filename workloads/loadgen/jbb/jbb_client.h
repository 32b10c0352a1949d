// SPDX-License-Identifier: GPL-2.0-or-later
// The only client of a warehouse. It knows the contents of the server's books.
#pragma once

#include <optional>

#include "client.h"
#include "jbb/books.h"
#include "number_session.h"

namespace s80::loadgen {

class JbbClient final : public Client {
public:
    using Client::Client;

private:
    /// Opens the warehouse.
    Task log_in() override;
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    Traffic lasting() const override { return session_ ? session_->traffic() : Traffic{}; }

    std::optional<NumberSession> session_;
    std::optional<jbb::Books> books_;
};

}  // namespace s80::loadgen
