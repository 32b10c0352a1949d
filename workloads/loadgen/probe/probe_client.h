// SPDX-License-Identifier: GPL-2.0-or-later
// A client that has the server copy and walk through memory, and checks the sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client.h"
#include "number_session.h"

namespace s80::loadgen {

class ProbeClient final : public Client {
public:
    using Client::Client;

private:
    /// Connects and opens the smallest block.
    Task log_in() override;
    /// Throws Fatal if a batch is not a whole number of passes over the block.
    void take_up_job() override;
    /// Opens the job's block.
    Task set_out() override;
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    Traffic lasting() const override { return session_ ? session_->traffic() : Traffic{}; }

    Task open(std::uint64_t bytes, std::uint64_t stride);
    Task copy();
    Task walk(std::string request);
    /// Sends a request that one number answers.
    Task expect(std::string request, std::uint64_t times, std::uint64_t sum);
    std::uint64_t words() const;  // of the half that is copied

    std::optional<NumberSession> session_;
    std::uint64_t passes_ = 0;  // over the block that is open
};

}  // namespace s80::loadgen
