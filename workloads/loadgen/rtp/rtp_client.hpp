// SPDX-License-Identifier: GPL-2.0-or-later
// Someone who plays media: a part of one, in a session of its own, and then another.
#pragma once

#include <optional>

#include "client.hpp"
#include "rtp/receiver.hpp"
#include "rtp/session.hpp"

namespace s80::loadgen {

class RtpClient final : public Client {
public:
    using Client::Client;

private:
    /// Asks what the server can do; which medium is played is the next job's affair.
    Task log_in() override;
    void take_up_job() override;
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    void settle(bool failed) override;
    Traffic lasting() const override;

    void connect();

    std::optional<RtspSession> session_;
    RtpReceiver receiver_{world};
    unsigned packets_ = 0;  // of a play
};

}  // namespace s80::loadgen
