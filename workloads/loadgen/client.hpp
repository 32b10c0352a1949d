// SPDX-License-Identifier: GPL-2.0-or-later
// An emulated user, whatever the protocol: it thinks, draws a transaction, does it, and thinks again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "connection.hpp"
#include "random.hpp"
#include "task.hpp"
#include "timers.hpp"
#include "traffic.hpp"
#include "transaction_type.hpp"
#include "world.hpp"

namespace s80::loadgen {

class Client {
public:
    Client(World& world, unsigned index);
    virtual ~Client() = default;

    /// Logs in; then calls `logged_in` and waits for begin().
    void start(std::function<void()> logged_in);
    /// Starts the first think time, of which a random part is over already.
    void begin();

    /// Counts the bytes of a connection that the client has done with.
    void done_with(const Connection& connection);

    World& world;
    const unsigned index;
    Random random;  // what a transaction is done to

protected:
    /// In messages.
    virtual std::string name() const;
    /// Up to where the first transaction can begin. Every failure in it is fatal.
    virtual Task log_in() = 0;
    /// Before the first think time: the job is another than at the login. Throws Fatal for one that this
    /// client cannot take up.
    virtual void take_up_job() {}
    /// Between the login and the first transaction, once the first think time is over.
    virtual Task set_out() { co_return; }
    /// How long the first think time lasts from the load's begin, nanoseconds.
    virtual double first_think_ns();
    /// Between two transactions.
    virtual Task rest();
    virtual TransactionType draw();
    virtual TransactionType allowed(TransactionType drawn) = 0;
    virtual Task run(TransactionType type) = 0;
    /// After a transaction, good or failed.
    virtual void settle(bool /*failed*/) {}
    /// Of connections that the client has not done with.
    virtual Traffic lasting() const { return {}; }
    void sleep_until(std::uint64_t due_ns) { world.timers.arm(think_, due_ns); }

    Random decisions_;  // a script's waits: apart, so that they do not depend on what it does
    Timer think_;
    TransactionType drawn_ = 0;  // what the client does now or has done last

private:
    Task live(std::function<void()> logged_in);
    Task transact();
    void draw_from_seed();
    double draw_think_ns();
    void failed(const Failure& failure);
    Traffic traffic() const { return done_ + lasting(); }

    std::uint64_t think_begin_ns_ = 0;
    Traffic done_;  // of the connections that were done with
    bool first_ = true;
    Task task_;
};

}  // namespace s80::loadgen
