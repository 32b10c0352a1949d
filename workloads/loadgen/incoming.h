// SPDX-License-Identifier: GPL-2.0-or-later
// The external mail server. It sends messages from outside to random users at exponential intervals, each
// over its own SMTP connection, and does not wait for earlier ones.
#pragma once

#include <cstdint>
#include <list>

#include "random.h"
#include "smtp_session.h"
#include "task.h"
#include "timers.h"
#include "world.h"

namespace s80::loadgen {

class Incoming {
public:
    explicit Incoming(World& world) : world_(world) {}

    void begin();
    /// Removes the deliveries that have ended. Called once per iteration of the event loop.
    void tidy();

private:
    struct Delivery {
        explicit Delivery(Network& network) : session(network) {}
        SmtpSession session;
        Envelope envelope;
        Task task;
    };

    Task arrive();
    Task deliver(Delivery& delivery);
    void arm();

    World& world_;
    Random random_;
    Timer timer_;
    Task arrivals_;
    std::list<Delivery> deliveries_;
};

}  // namespace s80::loadgen
