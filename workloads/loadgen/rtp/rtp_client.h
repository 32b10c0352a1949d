// SPDX-License-Identifier: GPL-2.0-or-later
// A user who plays parts of media, each in its own session.
#pragma once

#include <optional>

#include "client.h"
#include "rtp/receiver.h"
#include "rtp/session.h"

namespace s80::loadgen {

class RtpClient final : public Client {
public:
    using Client::Client;

private:
    /// Requests the server's capabilities. The next job determines which medium is played.
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
