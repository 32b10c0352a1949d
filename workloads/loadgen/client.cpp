// SPDX-License-Identifier: GPL-2.0-or-later
#include "client.h"

#include <exception>
#include <optional>
#include <utility>

#include "markers.h"
#include "output.h"

namespace s80::loadgen {

Client::Client(World& the_world, unsigned the_index) : world(the_world), index(the_index) {
    draw_from_seed();
}

void Client::start(std::function<void()> logged_in) {
    task_ = live(std::move(logged_in));
    task_.start();
}

void Client::begin() {
    draw_from_seed();  // the job's, which is another than at the login
    take_up_job();
    begun_ = true;
    const double rest = first_think_ns();
    think_begin_ns_ = world.clock.now();
    sleep_until(think_begin_ns_ + static_cast<std::uint64_t>(rest));
}

double Client::first_think_ns() {
    // Exponential think times forget how long they have lasted.
    return world.job.think_constant ? world.deal->think() * draw_think_ns() : draw_think_ns();
}

Task Client::rest() {
    sleep_until(world.clock.now() + static_cast<std::uint64_t>(draw_think_ns()));
    co_await think_;
}

void Client::watch(Connection& connection) {
    connection.when_lost([this] {
        if (begun_ && think_.waiting()) {
            sleep_until(world.clock.now());
        }
    });
}

TransactionType Client::draw() {
    return std::exchange(first_, false) ? world.deal->first() : world.deal->next(drawn_);
}

void Client::draw_from_seed() {
    random = Random(world.job.seed, 2 * std::uint64_t{index});
    decisions_ = Random(world.job.seed, 2 * std::uint64_t{index} + 1);
}

double Client::draw_think_ns() {
    const double mean_ns = world.job.think_ms * 1e6;
    return world.job.think_constant ? mean_ns : exponential(mean_ns, world.deal->think());
}

Task Client::live(std::function<void()> logged_in) {
    try {
        co_await log_in();
        logged_in();
        co_await think_;
        co_await set_out();
        while (world.fatal.empty()) {
            co_await transact();
            if (!world.fatal.empty()) {
                break;
            }
            think_begin_ns_ = world.clock.now();
            co_await rest();
        }
    } catch (const Failure& failure) {  // while logging in: a run needs all its clients
        failed(Failure(failure.kind(), failure.what(), true));
    } catch (const std::exception& error) {
        world.give_up(error.what());
    }
}

Task Client::transact() {
    const std::uint64_t begin_ns = world.clock.now();
    world.statistics.thought(begin_ns - think_begin_ns_);
    drawn_ = draw();
    const TransactionType type = allowed(drawn_);
    if (type != drawn_) {
        world.statistics.substituted(drawn_);
    }

    const Traffic before = traffic();
    marker::transaction_begin(type, index);
    world.statistics.started(type, begin_ns);
    std::optional<Failure> failure;
    try {
        co_await run(type);
    } catch (const Failure& caught) {
        failure = caught;
    }
    marker::transaction_end(type, index, failure.has_value());
    const std::uint64_t end_ns = world.clock.now();
    world.statistics.ended(type, begin_ns, end_ns, failure.has_value(), traffic() - before);
    settle(failure.has_value());
    if (world.trace) {
        output::transaction(*this, drawn_, type, end_ns - begin_ns);
    }
    if (failure) {
        failed(Failure(failure->kind(), world.job.transactions[type] + ": " + failure->what(),
                       failure->fatal()));
    }
}

void Client::done_with(const Connection& connection) {
    done_ += connection.traffic();
}

std::string Client::name() const {
    return "client " + std::to_string(index);
}

void Client::failed(const Failure& failure) {
    const std::string message = name() + ": " + failure.what();
    world.statistics.error(failure.kind(), message);
    if (failure.fatal()) {
        world.give_up(message);
    }
}

}  // namespace s80::loadgen
