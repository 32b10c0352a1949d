// SPDX-License-Identifier: GPL-2.0-or-later
#include "incoming.h"

#include <exception>
#include <string>

namespace s80::loadgen {

namespace {

constexpr const char* kOutside = "sender@outside.example";

}  // namespace

void Incoming::begin() {
    arrivals_ = arrive();
    arrivals_.start();
    random_ = Random(world_.job.seed, ~std::uint64_t{0});
    arm();
}

void Incoming::arm() {
    if (!(world_.job.incoming_per_s > 0)) {
        return;
    }
    const double interval_ns = random_.exponential(static_cast<double>(kNsPerS) / world_.job.incoming_per_s);
    world_.timers.arm(timer_, world_.clock.now() + static_cast<std::uint64_t>(interval_ns));
}

Task Incoming::arrive() {
    for (;;) {
        co_await timer_;
        const std::size_t recipient = world_.accounts.recipient(random_, world_.job.messages_max);
        if (recipient < world_.accounts.size()) {
            Delivery& delivery = deliveries_.emplace_back(world_.network);
            delivery.envelope.from = kOutside;
            delivery.envelope.to = Accounts::address(recipient);
            delivery.envelope.message =
                world_.text.compose(random_, kOutside, delivery.envelope.to, message_size(random_.uniform()));
            ++world_.accounts.inbox(recipient);
            delivery.task = deliver(delivery);
            delivery.task.start();
        }
        arm();
    }
}

Task Incoming::deliver(Delivery& delivery) {
    try {
        co_await delivery.session.deliver(world_.servers.next_smtp(), delivery.envelope);
        world_.statistics.incoming(delivery.envelope.message.size());
    } catch (const Failure& failure) {
        const std::string message = std::string("incoming mail: ") + failure.what();
        world_.statistics.error(failure.kind(), message);
        if (failure.fatal()) {
            world_.give_up(message);
        }
    } catch (const std::exception& error) {
        world_.give_up(error.what());
    }
}

void Incoming::tidy() {
    deliveries_.remove_if([](const Delivery& delivery) { return delivery.task.done(); });
}

}  // namespace s80::loadgen
